"""scrapyd's launcher: runs the jobs that the poller claims, renews their leases, and stops them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from scrapyd.config import Config
from scrapyd.interfaces import IEggStorage, IEnvironment, IJobStorage, IPoller
from scrapyd.launcher import Launcher, get_crawl_args
from twisted.application.service import Service
from twisted.internet import reactor as _reactor
from twisted.internet.defer import Deferred, DeferredList, DeferredLock, inlineCallbacks
from twisted.internet.task import LoopingCall, deferLater
from twisted.internet.threads import deferToThread, deferToThreadPool
from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.python.threadpool import ThreadPool

from pricewatch import clock
from pricewatch.scheduling import command_line, runner
from pricewatch.scheduling.egg_signature import EggRefused
from pricewatch.scheduling.egg_storage import EGG_REFUSED
from pricewatch.scheduling.job_process import JobProcess
from pricewatch.scheduling.membership import membership
from pricewatch.scheduling.node_heartbeat import HeartbeatReply, NodeHeartbeat
from pricewatch.scheduling.outage import Outage
from pricewatch.scheduling.poller import CLAIMED
from pricewatch.store.engine.private_files import open_private
from pricewatch.store.operations import alert_rows
from pricewatch.store.queues.job_queue import ClaimedJob

log = Logger()
reactor: Any = _reactor
SAVE_ATTEMPTS = 5
LOG_ATTEMPTS = 5
HEARTBEAT_THREADS = 2


class ClusterLauncher(Launcher):
    def __init__(self, config: Config, app: Any) -> None:
        super().__init__(config, app)
        self.processes: dict[int, JobProcess]
        self._membership = membership(config)
        # Seconds between the signal that stops a spider and SIGKILL: on cancel, and when the daemon stops.
        self.kill_after = config.getfloat("kill_after", 60)
        self.stop_after = config.getfloat("stop_after", 60)
        self.settings = dict(config.items("settings", []))
        self.log_bytes = int(config.getfloat("job_log_max_mb", 10) * 2**20)
        storage = app.getComponent(IJobStorage)
        self._heartbeat = NodeHeartbeat(self._membership, storage, self.max_proc, self.kill_after)
        self._outage = Outage("Renewing leases")
        # Ended processes whose outcome has not reached the database yet.
        self._unsaved: list[JobProcess] = []
        self._loop = LoopingCall(self._exchange)
        self._beat_seconds = config.getfloat("beat_seconds", 2)
        self._exchange_lock = DeferredLock()
        # Leases are renewed in time even if requests use up the threads of the reactor.
        self._threads = ThreadPool(0, HEARTBEAT_THREADS, "heartbeat")
        self._threads.start()
        reactor.addSystemEventTrigger("after", "shutdown", self._threads.stop)
        self._takes_jobs = False
        self._stopping = False

    def startService(self) -> None:  # noqa: N802 - twisted's name
        Service.startService(self)
        log.info(
            "Node {node} started: {slots} slots",
            node=self._membership.place.node,
            slots=self.max_proc,
            log_system="Launcher",
        )
        self._loop.start(self._beat_seconds)

    @inlineCallbacks
    def stopService(self) -> Any:  # noqa: N802 - twisted's name
        """Let spiders write their checkpoints and end; kill those that do not, and queue their jobs again."""
        Service.stopService(self)
        self._stopping = True
        self.app.getComponent(IPoller).stop()
        ending = [self._stop(process) for process in self.processes.values()]
        if ending:
            log.info("Waiting for {count} spiders to end", count=len(ending))
            yield DeferredList(ending)
        if self._loop.running:
            self._loop.stop()
        for _ in range(SAVE_ATTEMPTS):
            yield self._exchange()
            if not self._unsaved:
                break
            yield deferLater(reactor, 1, lambda: None)
        yield self._on_own_thread(self._heartbeat.leave).addErrback(self._outage.record_failure)

    def check_now(self) -> None:
        """Exchange state with the database now, because a job on this node may have been cancelled."""
        if self.processes and not self._stopping:
            self._exchange()

    def _stop(self, process: JobProcess) -> Deferred[None]:
        process.is_stopping = True
        process.send("TERM")
        process.kill_after(self.stop_after, reactor)
        stopped: Deferred[None] = Deferred()

        def ended(result: Any) -> Any:
            stopped.callback(None)
            return result

        process.deferred.addBoth(ended)
        return stopped

    def _get_message(self, slot: int) -> None:
        if not self._stopping:
            self.app.getComponent(IPoller).next().addCallback(self._spawn_process, slot)

    def _spawn_process(self, message: dict[str, Any], slot: int) -> None:
        """Reserve the slot at once: copying the egg on a thread may take a while."""
        claimed: ClaimedJob = message.pop(CLAIMED)
        process = JobProcess(claimed, {}, [])
        process.deferred.addBoth(self._process_finished, slot)
        self.processes[slot] = process
        fetched = deferToThread(self._prepare, message, claimed, slot)
        fetched.addCallback(self._start, process).addErrback(self._not_started, process)

    def _prepare(self, message: dict[str, Any], claimed: ClaimedJob, slot: int) -> tuple[list[str], Any]:
        egg: Path | None = None
        if claimed.version is not None:
            try:
                found = self.app.getComponent(IEggStorage).fetch(claimed.project, claimed.version)
            except EggRefused as refusal:
                self._record_refusal(message, claimed, refusal)
                raise
            if found is None:
                raise LookupError(f"version {claimed.version} of {claimed.project} no longer exists")
            egg = found[1]
        environment = self.app.getComponent(IEnvironment)
        message["settings"] = {**message.get("settings", {}), **self._log_settings(environment, message)}
        env = environment.get_environment(message, slot)
        message.pop("_version", None)
        args = command_line.runner_command(self.runner, "crawl", *get_crawl_args(message))
        node = self._membership.place.node
        job_env = command_line.spider_environment(env, claimed.project, egg, node)
        return args, {**job_env, runner.LOG_BYTES: str(self.log_bytes)}

    def _record_refusal(self, message: dict[str, Any], claimed: ClaimedJob, refusal: EggRefused) -> None:
        """Write why an egg is not run into the log of the job, and raise an alert."""
        if log_file := self._log_settings(self.app.getComponent(IEnvironment), message).get("LOG_FILE"):
            with open_private(Path(log_file)) as job_log:
                job_log.write(f"{refusal}\n")
        with self._membership.begin() as connection:
            alert_rows.raise_alert(
                connection,
                kind=EGG_REFUSED,
                subject=f"{claimed.project} {claimed.version}",
                message=str(refusal),
                severity="P1",
                now=clock.now(),
            )

    def _log_settings(self, environment: Any, message: dict[str, Any]) -> dict[str, str]:
        for _ in range(LOG_ATTEMPTS):
            # Another node on this machine, or another slot, may create or remove the same directory.
            with suppress(FileExistsError, FileNotFoundError):
                return dict(environment.get_settings(message))
        return dict(environment.get_settings(message))

    def _start(self, prepared: tuple[list[str], dict[str, str]], process: JobProcess) -> None:
        process.args, process.env = prepared
        if self._stopping or process.cancels or process.is_lost:
            process.is_stopping = self._stopping
            process.deferred.callback(process)
            return
        reactor.spawnProcess(process, sys.executable, args=process.args, env=process.env)
        self._on_own_thread(self._heartbeat.note_pid, process).addErrback(self._outage.record_failure)

    def _not_started(self, failure: Failure, process: JobProcess) -> None:
        process.failed_to_start(failure)
        process.deferred.callback(process)

    def _process_finished(self, _: Any, slot: int) -> None:
        process = self.processes.pop(slot)
        if not process.is_lost:
            self._unsaved.append(process)
        self._exchange().addBoth(lambda _: self._get_message(slot))

    def _exchange(self) -> Deferred[None]:
        """Exchange state with the database, one exchange at a time; never fails, so that the loop goes on."""
        return self._exchange_lock.run(self._exchange_once)

    def _exchange_once(self) -> Deferred[None]:
        running = {process.claimed.id for process in self.processes.values()}
        unsaved = list(self._unsaved)
        ids = running | {process.claimed.id for process in unsaved}
        sent = self._on_own_thread(self._heartbeat.exchange, ids, unsaved)
        return sent.addCallback(self._apply, running).addErrback(self._outage.record_failure)

    def _on_own_thread(self, function: Callable[..., Any], *args: Any) -> Deferred[Any]:
        return deferToThreadPool(reactor, self._threads, function, *args)

    def _apply(self, reply: HeartbeatReply, running: set[int]) -> None:
        self._outage.record_success()
        self._unsaved = [process for process in self._unsaved if process.claimed.id not in reply.saved]
        for lost in reply.returned:
            log.warn("Job {job} of {node} is now {state}", job=lost.job_id, node=lost.node, state=lost.state)
        for process in self.processes.values():
            if process.claimed.id not in running:
                continue
            renewed = reply.renewed.get(process.claimed.id)
            if renewed is None:
                process.log("error", "Another node took over the job; killed:")
                process.is_lost = True
                process.kill()
            elif renewed.cancels > process.cancels:
                process.cancels = renewed.cancels
                process.send(renewed.cancel_signal or "INT")
                process.kill_after(self.kill_after, reactor)
        if not self._takes_jobs and not self._stopping:
            # Only after the first exchange, which ends the orphans of an earlier daemon.
            self._takes_jobs = True
            for slot in range(self.max_proc):
                self._get_message(slot)
