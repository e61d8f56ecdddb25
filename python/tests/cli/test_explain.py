"""``pulsar-spark explain`` of columns and metrics."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from pulsar_spark import cli
from pulsar_spark._tables import described_names

if TYPE_CHECKING:
    import pytest

SOURCES = Path(__file__).resolve().parents[3] / "connector" / "src" / "main" / "scala" / "io" / "github" / "pulsarspark"


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert cli.main(["explain", *arguments]) == 0
    return capsys.readouterr().out


def test_a_column_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    text = answer(capsys, "__POSITION")
    assert text.startswith("__position\n  A metadata column.\n")
    assert "\n  type       STRING\n" in text
    assert "\n  in writes  ignored\n" in text
    assert json.loads(answer(capsys, "__position", "--json"))["kind"] == "column"


def test_a_metric_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    text = answer(capsys, "pulsarSinkSkipped")
    assert text.startswith("pulsarSinkSkipped\n  A metric that Spark shows.\n")
    assert "\n  what it is rows of epochs that the sink had\n" in text


def test_the_nearest_column_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", "__positon"]) == 2
    assert "`__position`" in capsys.readouterr().err


def test_every_metric_is_described() -> None:
    files = [*(SOURCES / "metrics").glob("*.scala"), SOURCES / "write" / "exactlyonce" / "SinkTotals.scala"]
    names = {name for file in files for name in re.findall(r'"(pulsar[A-Z]\w+)"', file.read_text(encoding="utf-8"))}
    assert len(names) > 20
    assert sorted(names - {"pulsarBacklog"} - set(described_names())) == [], "pulsarBacklog begins the names of four"
