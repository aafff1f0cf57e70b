CREATE TABLE dispatcher (
    id smallint CONSTRAINT pk_dispatcher PRIMARY KEY,
    node text,
    last_tick_at timestamptz,
    last_tick_ms integer,
    last_started integer NOT NULL DEFAULT 0,
    maintained_at timestamptz,
    details_kept_from timestamptz,
    CONSTRAINT ck_dispatcher_one_row CHECK (id = 1)
);
INSERT INTO dispatcher (id) VALUES (1);

CREATE TABLE eggs (
    project text NOT NULL,
    version text NOT NULL,
    egg bytea NOT NULL,
    digest text NOT NULL,
    added_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT pk_eggs PRIMARY KEY (project, version)
);
CREATE INDEX ix_eggs_added_at ON eggs (project, added_at);

CREATE TABLE jobs (
    id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT pk_jobs PRIMARY KEY,
    project text NOT NULL,
    spider text NOT NULL,
    job_id text NOT NULL,
    version text,
    arguments jsonb NOT NULL DEFAULT '{}',
    settings jsonb NOT NULL DEFAULT '{}',
    work text NOT NULL,
    priority double precision NOT NULL DEFAULT 0,
    state text NOT NULL DEFAULT 'pending',
    added_at timestamptz NOT NULL DEFAULT now(),
    not_before timestamptz NOT NULL DEFAULT now(),
    node text,
    instance text,
    pid integer,
    lease_until timestamptz,
    attempts integer NOT NULL DEFAULT 0,
    started_at timestamptz,
    cancels integer NOT NULL DEFAULT 0,
    cancel_signal text,
    ended_at timestamptz,
    exit_code integer,
    exit_signal integer,
    reason text,
    CONSTRAINT uq_jobs_project_job_id UNIQUE (project, job_id),
    CONSTRAINT ck_jobs_running_is_leased CHECK (state <> 'running' OR lease_until IS NOT NULL),
    CONSTRAINT ck_jobs_state CHECK (state IN ('pending', 'running', 'finished', 'failed', 'cancelled'))
);
CREATE INDEX ix_jobs_ended ON jobs (ended_at DESC, id DESC) WHERE ended_at IS NOT NULL;
CREATE INDEX ix_jobs_pending ON jobs (priority DESC, id) WHERE state = 'pending';
CREATE INDEX ix_jobs_waiting ON jobs (project, work) WHERE state = 'pending';
CREATE UNIQUE INDEX uq_jobs_working ON jobs (project, work) WHERE state = 'running';

CREATE TABLE nodes (
    name text CONSTRAINT pk_nodes PRIMARY KEY,
    instance text NOT NULL,
    url text,
    pid integer NOT NULL,
    slots integer NOT NULL,
    started_at timestamptz NOT NULL DEFAULT now(),
    heartbeat_at timestamptz NOT NULL DEFAULT now(),
    stopped_at timestamptz
);
