"""How a plan is shown and handed out; what it says comes from the JVM and is tested there."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast
from xml.etree import ElementTree

import pytest

from pulsar_spark import (
    FollowedPartition,
    PlannedSlice,
    PlannedTask,
    PulsarOptionError,
    PulsarSetupError,
    ReadPlan,
    RealTimePlan,
    plan,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TOPIC = "persistent://public/default/rides"
BOOKIES = PlannedSlice(TOPIC, "7:-1", "7:1233", "bookies", entries=1234, bytes=5 << 20)
REST = PlannedSlice(TOPIC, "7:1233", "7:1299:4", "bookies", entries=66, bytes=1000)
OFFLOADED = PlannedSlice(TOPIC, "3:-1", "3:99", "tiered", entries=100, bytes=2048)
BROKER = PlannedSlice(TOPIC, "1:5", "2:8", "broker", reason="ledger 1 belongs to nobody")
MIXED = ReadPlan((PlannedTask((BROKER,)), PlannedTask((OFFLOADED, BOOKIES)), PlannedTask((REST,), ("bookie-1",))))
BEHIND = FollowedPartition(f"{TOPIC}-partition-1", "7:-1", "9:1233", entries=1300, bytes=5 << 20)
QUIET = FollowedPartition(f"{TOPIC}-partition-0", "8:99:4", "8:99:4", entries=0, bytes=0)
EMPTY = FollowedPartition(f"{TOPIC}-partition-2", "11:-1", entries=0, bytes=0)
SEVERAL = FollowedPartition("persistent://a/b/<events>", "3:1", "6:5")
LIVE = RealTimePlan(((BEHIND, QUIET), (EMPTY,)))


def test_a_plan_is_a_table() -> None:
    assert str(MIXED).splitlines() == [
        "task  topic                 after   through   entries    bytes  read from  why",
        "----  --------------------  ------  --------  -------  -------  ---------  --------------------------",
        "   0  public/default/rides  1:5     2:8             ?        ?  broker     ledger 1 belongs to nobody",
        "   1  public/default/rides  3:-1    3:99          100  2.0 KiB  tiered",
        "   1  public/default/rides  7:-1    7:1233      1,234  5.0 MiB  bookies",
        "   2  public/default/rides  7:1233  7:1299:4       66  1,000 B  bookies",
        "3 tasks",
        "  bookies: 2 slices, 1,300 entries, 5.0 MiB",
        "  tiered: 1 slice, 100 entries, 2.0 KiB",
        "  broker: 1 slice",
    ]


def test_the_column_of_reasons_is_omitted_if_empty() -> None:
    assert str(ReadPlan((PlannedTask((OFFLOADED,)),))).splitlines()[0].endswith("read from")


def test_a_long_plan_is_shortened_but_its_totals_are_complete() -> None:
    lines = str(ReadPlan(tuple(PlannedTask((REST,)) for _ in range(1000)))).splitlines()
    assert lines[-3:] == [
        "... and 940 more slices",
        "1,000 tasks",
        "  bookies: 1,000 slices, 66,000 entries, 976.6 KiB",
    ]
    assert len(lines) == 65


def test_a_plan_of_nothing() -> None:
    assert str(ReadPlan(())) == "nothing to read"
    assert ReadPlan(()).totals == {}


def test_the_repr_of_a_plan_is_its_summary() -> None:
    assert repr(MIXED) == (
        "ReadPlan(3 tasks; bookies: 2 slices, 1,300 entries, 5.0 MiB; tiered: 1 slice, 100 entries, 2.0 KiB; "
        "broker: 1 slice)"
    )
    assert repr(ReadPlan(())) == "ReadPlan(nothing to read)"


def test_a_notebook_shows_a_plan_as_a_table() -> None:
    html = MIXED._repr_html_()
    table = ElementTree.fromstring(f"<html>{html.replace('<br>', ' ')}</html>")
    assert [cell.text for cell in table.iter("th")] == [
        "task",
        "topic",
        "after",
        "through",
        "entries",
        "bytes",
        "read from",
        "why",
    ]
    assert [cell.text for cell in list(table.iter("tr"))[2]] == [
        "1",
        "public/default/rides",
        "3:-1",
        "3:99",
        "100",
        "2.0 KiB",
        "tiered",
        None,
    ]
    assert "3 tasks<br>bookies: 2 slices" in html
    assert "<" not in ReadPlan(())._repr_html_().replace("<div>", "").replace("</div>", "")


def test_a_table_in_a_notebook_is_escaped_and_short() -> None:
    odd = PlannedSlice("persistent://a/b/<script>&", "1:5", "2:8", "broker", reason="<b>")
    html = ReadPlan((PlannedTask((odd,) * 1000),))._repr_html_()
    assert "<script>" not in html
    assert "a/b/&lt;script&gt;&amp;" in html
    assert "&lt;b&gt;" in html
    assert html.count("<tr>") == 61
    assert html.endswith("<div>... and 940 more slices</div>")


def test_a_plan_as_json() -> None:
    told = json.loads(MIXED.to_json())
    assert [len(task["slices"]) for task in told["tasks"]] == [1, 2, 1]
    assert told["tasks"][2]["hosts"] == ["bookie-1"]
    assert PlannedSlice(**told["tasks"][0]["slices"][0]) == BROKER
    assert told["totals"] == {
        "bookies": {"slices": 2, "entries": 1300, "bytes": (5 << 20) + 1000},
        "tiered": {"slices": 1, "entries": 100, "bytes": 2048},
        "broker": {"slices": 1, "entries": None, "bytes": None},
    }


def test_a_plan_of_real_time_mode_is_a_table() -> None:
    assert str(LIVE).splitlines() == [
        "task  topic                             after   last    entries    bytes",
        "----  --------------------------------  ------  ------  -------  -------",
        "   0  public/default/rides-partition-1  7:-1    9:1233    1,300  5.0 MiB",
        "   0  public/default/rides-partition-0  8:99:4  8:99:4        0      0 B",
        "   1  public/default/rides-partition-2  11:-1                 0      0 B",
        "2 tasks, 3 partitions",
        "  backlog: 1 partition, 1,300 entries, 5.0 MiB",
    ]
    assert LIVE.partitions == (BEHIND, QUIET, EMPTY)
    assert [one.is_behind for one in LIVE.partitions] == [True, False, False]


def test_a_backlog_of_unknown_size_is_a_backlog() -> None:
    unknown = RealTimePlan(((SEVERAL, BEHIND),))
    assert (unknown.entries, unknown.bytes) == (None, None)
    assert repr(unknown) == "RealTimePlan(1 task, 2 partitions; backlog: 2 partitions)"
    assert "a/b/&lt;events&gt;" in unknown._repr_html_()
    assert "?" in str(unknown)


def test_a_plan_of_real_time_mode_in_one_line() -> None:
    assert repr(LIVE) == "RealTimePlan(2 tasks, 3 partitions; backlog: 1 partition, 1,300 entries, 5.0 MiB)"
    assert repr(RealTimePlan(((EMPTY,),))) == "RealTimePlan(1 task, 1 partition; no backlog)"
    long = str(RealTimePlan(((QUIET,) * 100,))).splitlines()
    assert long[-3:] == ["... and 40 more partitions", "1 task, 100 partitions", "  no backlog"]


def test_a_plan_of_real_time_mode_as_json() -> None:
    told = json.loads(LIVE.to_json())
    assert [[FollowedPartition(**one) for one in task] for task in told["tasks"]] == [[BEHIND, QUIET], [EMPTY]]
    assert (told["entries"], told["bytes"]) == (1300, 5 << 20)


class FakeFrame:
    """Stands for a DataFrame whose session says what the JVM would."""

    def __init__(self, told: str = "", *, streaming: bool = False) -> None:
        self.isStreaming = streaming
        self.told = told

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return self

    def __call__(self, *_: object) -> FakeFrame:
        return self

    def json(self, _: object) -> str:
        return self.told

    def realTimeJson(self, _: object, checkpoint: str) -> str:  # noqa: N802
        self.checkpoint = checkpoint
        return self.told

    @property
    def frame(self) -> DataFrame:
        return cast("DataFrame", self)


def test_the_plan_is_that_of_the_jvm() -> None:
    slices = [
        {"topic": TOPIC, "after": "1:5", "through": "2:8", "tier": "broker", "reason": "ledger 1 belongs to nobody"},
        {"topic": TOPIC, "after": "3:-1", "through": "3:99", "tier": "tiered", "entries": 100, "bytes": 2048},
    ]
    told = {"reads": 1, "tasks": [{"hosts": ["h"], "slices": slices}]}
    assert plan(FakeFrame(json.dumps(told)).frame) == ReadPlan((PlannedTask((BROKER, OFFLOADED), ("h",)),))


def test_the_plan_of_real_time_mode_is_that_of_the_jvm() -> None:
    parts = [{"topic": BEHIND.topic, "after": "7:-1", "last": "9:1233", "entries": 1300, "bytes": 5 << 20}]
    parts += [{"topic": EMPTY.topic, "after": "11:-1", "entries": 0, "bytes": 0}]
    stream = FakeFrame(json.dumps({"reads": 1, "tasks": [[parts[0]], [parts[1]]]}), streaming=True)
    assert plan(stream.frame, real_time=True) == RealTimePlan(((BEHIND,), (EMPTY,)))
    assert stream.checkpoint == ""
    plan(stream.frame, real_time=True, checkpoint=Path("/jobs/rides"))
    assert stream.checkpoint == "/jobs/rides"


def test_a_plan_is_of_a_batch_or_of_a_stream_in_real_time_mode() -> None:
    with pytest.raises(PulsarOptionError, match=r"PULSAR_PLAN_NO_READ.*is no stream.*real_time=True"):
        plan(FakeFrame().frame, real_time=True)
    with pytest.raises(PulsarOptionError, match=r"PULSAR_PLAN_NO_READ.*reads nothing of Pulsar"):
        plan(FakeFrame('{"reads": 0, "tasks": []}', streaming=True).frame, real_time=True)
    with pytest.raises(PulsarOptionError, match=r"PULSAR_OPTION_INCOMPLETE.*`checkpoint`.*`real_time`"):
        plan(FakeFrame().frame, checkpoint="/jobs/rides")  # type: ignore[call-overload]


def test_streams_and_other_sources_have_no_plan() -> None:
    with pytest.raises(PulsarOptionError, match=r"PULSAR_PLAN_NO_READ.*is a stream"):
        plan(FakeFrame(streaming=True).frame)
    with pytest.raises(PulsarOptionError, match=r"PULSAR_PLAN_NO_READ.*reads nothing of Pulsar"):
        plan(FakeFrame('{"reads": 0, "tasks": []}').frame)
    with pytest.raises(PulsarSetupError, match=r"PULSAR_NO_JVM.*plan\(\).*Spark Connect"):
        plan(cast("DataFrame", SimpleNamespace(sparkSession=object())))
