"""The page about compatibility names what exists, and the versions that the code reads and writes."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pulsar_spark
from pulsar_spark import _tables
from pulsar_spark.local.versions import KNOWN

ROOT = Path(__file__).resolve().parents[3]
MAIN = ROOT / "connector/src/main/scala/io/github/pulsarspark"
PAGE = (ROOT / "docs/use/compatibility.md").read_text(encoding="utf-8")
CODES = re.findall(r"`([^`]+)`", PAGE)


def version(file: str) -> str:
    """The version of a format, which its source file has as a constant."""
    found = re.findall(r"val Version += (\d+)", (MAIN / file).read_text(encoding="utf-8"))
    assert len(found) == 1, file
    return str(found[0])


def test_the_versions_of_formats_are_those_of_the_code() -> None:
    assert f"| this connector, version {version('position/PulsarOffset.scala')} of its offsets | yes. It is" in PAGE
    assert f"exactly-once sinks have version {version('write/exactlyonce/SinkRecords.scala')}." in PAGE


def test_the_servers_are_those_of_the_tests() -> None:
    assert all(one in PAGE for one in KNOWN)


def test_named_classes_modules_and_conditions_exist() -> None:
    for code in CODES:
        if code.startswith("io.github.pulsarspark.") and code[-1] != "d":
            path = MAIN / f"{code.removeprefix('io.github.pulsarspark.').replace('.', '/')}.scala"
            assert path.is_file(), code
        if code.startswith("pulsar_spark."):
            assert code.removeprefix("pulsar_spark.") in pulsar_spark.__all__ or find_spec(code) is not None, code
        if code.startswith("PULSAR_"):
            assert code in _tables.error_conditions(), code
