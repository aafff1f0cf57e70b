"""Valid requests: every response matches the OpenAPI schema. tests/hostile sends invalid ones."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from pricewatch.web.app import create_app
from pricewatch.web.configuration import Configuration
from tests.databases import Database
from tests.store import observations

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_responses_match_the_schema(database: Database) -> None:
    now = datetime.now(UTC)
    observations.store(database.engine, [observations.card(number, 900 + number, now) for number in range(5)])
    database.do("INSERT INTO runs (spider, started_at, heartbeat_at) VALUES ('sweep', now(), now())")
    app = create_app(Configuration())
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", app, headers={"Host": "127.0.0.1"})
    tried = 0
    for result in schema.get_all_operations():
        operation: Any = result.ok()  # type: ignore[union-attr]
        _check_operation(operation)
        tried += 1
    assert tried > 30


def _check_operation(operation: Any) -> None:
    @settings(max_examples=10, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy())
    def call(case: Any) -> None:
        response = case.call(headers={"Host": "127.0.0.1"})
        case.validate_response(response, checks=CHECKS)

    call()
