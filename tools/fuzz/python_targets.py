"""The decoders of the Python package: each takes texts from Spark, from files or from a command line."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuzz.rule import Target
from pulsar_spark import _tables
from pulsar_spark.cluster import client_conf
from pulsar_spark.errors import PulsarSparkError, error_of
from pulsar_spark.local.errors import FetchError
from pulsar_spark.local.maven.coordinate import Coordinate
from pulsar_spark.options import checks, durations
from pulsar_spark.options.bounds import bound_options
from pulsar_spark.progress import records

if TYPE_CHECKING:
    from collections.abc import Mapping

_REPORTS = Path(__file__).resolve().parents[2] / "python" / "tests" / "progress" / "reports.jsonl"
_NOW = datetime(2026, 1, 2, tzinfo=timezone.utc)


def _bound(text: str) -> object:
    return bound_options("start", text, topic="t", now=_NOW), bound_options("end", text, topic="t", now=_NOW)


def _options(text: str) -> object:
    """The options of a read, a line for each."""
    pairs = [line.partition("=") for line in text.splitlines()]
    given = {"service.url": "pulsar://localhost:6650", "topic": "t", **{key: value for key, _, value in pairs}}
    checks.check(given, ["batchRead"])
    return sorted(given)


def _error(text: str) -> object:
    found = error_of(RuntimeError(text))
    return found and (found.condition, found.parameters)


def _client_conf(text: str) -> object:
    found = client_conf.parsed(text)
    return found, client_conf._login(Path("client.conf"), found), client_conf._tls(found)  # noqa: SLF001 - beside the file


def _error_texts() -> tuple[str, ...]:
    """Each condition as it stands in the text of an error of Spark."""
    return tuple(
        f"Job aborted: [{name}] {entry.message} What to do: {entry.action}"
        for name, entry in _tables.error_conditions().items()
    )


def targets() -> Mapping[str, Target]:
    """All of them, by name."""
    refused = (PulsarSparkError,)
    reports: list[Any] = [json.loads(line) for line in _REPORTS.read_text(encoding="utf-8").splitlines()]
    conf = "brokerServiceUrl=pulsar://a:6650/\nauthPlugin=org.apache.pulsar.client.impl.auth.AuthenticationToken\n"
    return {
        "progress": Target(records.parse, tuple(json.dumps(one) for one in reports), refused),
        "client.conf": Target(
            _client_conf, (f"{conf}authParams=token:a", f'{conf}authParams={{"token":"\\u00e4"}}'), refused
        ),
        "options": Target(_options, ("readLevel=auto\npollTimeoutMs=7s", "readAheadBytes=1.5 MiB"), refused),
        "bounds": Target(_bound, ("earliest", "-2h", "12:34:5", "2026-01-02T03:04:05Z", "1700000000000"), refused),
        "durations": Target(durations.milliseconds, ("15m", "+7 days", "500")),
        "errors": Target(_error, _error_texts()),
        "coordinates": Target(Coordinate.parse, ("a.b:c:1.0", "a:b:1:natives@zip"), (FetchError,)),
    }
