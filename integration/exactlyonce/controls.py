"""Shows that tests of exactly-once writes notice when a rule of the protocol is missing: ``make test-controls``.

With the names of rules, such as ``"no fence"``, it tries these alone.

Each rule is taken out of a copy of the connector's source. Then a test must fail: a fault test with a jar of that copy,
or a unit suite in it. ``integration/model`` does the same with the model of the protocol.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_COPY = _ROOT / "target" / "controls"
_MAIN = Path("connector/src/main/scala/io/github/pulsarspark")
_EDGES = "integration/write/test_exactly_once_edges.py"
_FAILED = 1  # pytest's code when tests failed; others are for tests that did not run
_SECONDS = 900


@dataclass(frozen=True)
class Control:
    """A rule, how to take it out, and who notices.

    Attributes:
        rule: What is missing then.
        old: What stands once in the file.
        new: What takes its place.
        test: The id of a test that fails, or the name of a unit suite.
        file: Below the main source.
    """

    rule: str
    old: str
    new: str
    test: str
    file: str = "write/exactlyonce/SinkCoordinator.scala"


CONTROLS = (
    Control(
        rule="no fence",
        file="write/exactlyonce/PulsarSinkCluster.scala",
        old="log.producer(access)",
        new="log.producer(ControlAccess.Shared)",
        test="integration/write/test_exactly_once.py::test_a_driver_that_was_replaced_fails",
    ),
    Control(
        rule="no barrier",
        file="write/exactlyonce/PulsarSinkCluster.scala",
        old="try reader.until(patience)(_ == barrier)",
        new="try Some(reader.toEnd())",
        test="integration/write/test_exactly_once_faults.py::test_a_commit_that_arrives_late_is_not_taken_for_an_abort",
    ),
    Control(
        rule="no nonce",
        old="if (!result.belongsTo(settings.nonce))",
        new="if (!result.belongsTo(settings.nonce) && !result.belongsTo(result.nonce.mkString))",
        test="integration/write/test_exactly_once.py::test_the_state_of_another_checkpoint_is_refused",
    ),
    Control(
        rule="no disconnect check",
        file="pulsar/transactions/TaskTransaction.scala",
        old="!now.subsetOf(before)",
        new="!now.subsetOf(before ++ now)",
        test="integration/exactlyonce/test_lost_replies.py::test_a_reply_is_lost_with_its_connection[SEND_RECEIPT-4]",
    ),
    Control(
        rule="commit before flush",
        file="write/PulsarDataWriter.scala",
        old="    flush(producers)\n    attempt.map(_.finish",
        new="    attempt.map(_.finish",
        test="integration/exactlyonce/test_lost_replies.py::test_a_reply_is_lost_with_its_connection[SEND_RECEIPT-4]",
    ),
    Control(
        rule="no record before the rows",
        file="pulsar/transactions/TaskTransaction.scala",
        old="      recorded()\n",
        new="      if (added.isEmpty) recorded()\n",
        test="integration/write/test_exactly_once.py::test_nothing_is_sent_before_the_driver_can_know_of_it",
    ),
    Control(
        rule="no record before the commit",
        old="finish(prepared, Some(append(prepared)))",
        new='finish(prepared, Some(""))',
        test="integration/write/test_exactly_once_faults.py::test_an_epoch_that_was_recorded_is_committed_by_the_next_driver",
    ),
    Control(
        rule="epochs may go back",
        old="val isSequence = settings.startsAtZero && settings.onMismatch",
        new="val isSequence = settings.sinkId.isEmpty && settings.onMismatch",
        test=f"{_EDGES}::test_a_checkpoint_that_went_back_is_refused_and_taken_on_knowingly",
    ),
    Control(
        rule="no proof that transactions live",
        old="if (ended.nonEmpty || isLate)",
        new="if (ended.size > ids.size && isLate)",
        test=f"{_EDGES}::test_a_job_that_is_longer_than_its_transactions_is_not_torn",
    ),
    Control(
        rule="no proof that young transactions live",
        old="if (ended.nonEmpty || isLate)",
        new="if (ended.size > ids.size || isLate)",
        test="SinkTransactionsSuite",
    ),
    Control(
        rule="a driver that was replaced drops its epoch",
        old="append(Barrier(UUID.randomUUID.toString)): Unit",
        new="Option(Barrier(UUID.randomUUID.toString)): Unit",
        test="SinkCoordinatorSuite",
    ),
    Control(
        rule="one state for all targets",
        old="else log.done(settings.target)",
        new="else log.last.map(d => WrittenEpoch(d.epoch, Some(d.rows)))",
        test=f"{_EDGES}::test_one_sink_writes_to_two_topics_in_foreach_batch",
    ),
    Control(
        rule="a life of one epoch releases nothing",
        old="    lastDone = records.findLast",
        new="    lastDone = records.take(0).findLast",
        test=f"{_EDGES}::test_a_log_is_released_where_each_batch_is_a_life",
    ),
    Control(
        rule="no answer to the marker before the abort",
        file="write/exactlyonce/TaskAttempt.scala",
        old="      awaitMarker()\n",
        new="      if (isHandedOver) awaitMarker()\n",
        test="integration/exactlyonce/test_late_markers.py",
    ),
    Control(
        rule="a fence before the log is read",
        file="write/exactlyonce/PulsarSinkCluster.scala",
        old="      admit(before)\n",
        new="",
        test=f"{_EDGES}::test_a_query_that_is_refused_leaves_the_running_one_alone",
    ),
    Control(
        rule="the last epoch is repeated with other rows",
        file="write/exactlyonce/EpochDecision.scala",
        old="!last.rows.forall(_ == rows)",
        new="!last.rows.forall(_ >= 0)",
        test=f"{_EDGES}::test_a_checkpoint_behind_by_one_is_noticed_by_its_rows",
    ),
    Control(
        rule="gaps in the epochs",
        file="write/exactlyonce/EpochDecision.scala",
        old="last.epoch + 1 < epoch && isSequence",
        new="last.epoch + 1 < epoch && isSequence && epoch < 0",
        test="EpochDecisionSuite",
    ),
    Control(
        rule="an epoch that was found ends the writing anew",
        old="    log.prepared.map(p => p -> finish(p, None))\n",
        new="    log.prepared.map { p => hasWritten = true; p -> finish(p, None) }\n",
        test="SinkCheckpointsSuite",
    ),
    Control(
        rule="earlier drivers are of earlier epochs",
        file="write/exactlyonce/EpochDecision.scala",
        old="if (o.owner == own) o.epoch <= epoch else earlier(o.owner)",
        new="o.epoch <= epoch && (o.owner == own || earlier(o.owner))",
        test="SinkCheckpointsSuite",
    ),
    Control(
        rule="a record of one target forgets the others",
        old="    last.fold(Map.empty[String, Long])(_.targets) - prepared.target,\n",
        new="    Map.empty,\n",
        test="SinkCheckpointsSuite",
        file="write/exactlyonce/SinkLog.scala",
    ),
    Control(
        rule="the last record of the log is released",
        old="    lastDone = Some(done)\n    result\n",
        new="    lastDone = Some(done)\n    result.fold(lastDone)(_ => lastDone)\n",
        test="SinkCheckpointsSuite",
    ),
    Control(
        rule="a refused abort is an end",
        old="      val ended = cluster.abort(orphans)\n",
        new="      val ended = scala.util.Try(cluster.abort(orphans)).getOrElse(orphans.toSet)\n",
        test="SinkTransactionsSuite",
    ),
    Control(
        rule="what is open stays so after the last epoch",
        old="        abortOrphans(Long.MaxValue, log.owners, None)\n",
        new="",
        test="SinkCoordinatorSuite",
    ),
    Control(
        rule="an epoch with little time left is recorded",
        file="write/exactlyonce/EpochEndings.scala",
        old="lost.nonEmpty || left < patience.min(settings.timeout / 10)",
        new="lost.nonEmpty",
        test="SinkEndingsSuite",
    ),
    Control(
        rule="late transactions stay open while no rows arrive",
        old="try if (!isStopped && isSettled) written",
        new="try if (isStopped && isSettled) written",
        test="SinkEndingsSuite",
    ),
    Control(
        rule="a repair fences a driver",
        file="write/exactlyonce/SinkRepair.scala",
        old="ControlAccess.Alone",
        new="ControlAccess.Fencing",
        test="integration/exactlyonce/test_sink_command.py::test_a_sink_with_a_driver_is_not_repaired",
    ),
    Control(
        rule="a repair ends any torn epoch",
        old="TornEpoch.AcceptLost(e)) if e == prepared.epoch ",
        new="TornEpoch.AcceptLost(e)) if e >= 0 ",
        test="SinkEndingsSuite",
    ),
    Control(
        rule="lost rows that are accepted do not count",
        old="    prepared.transactions.map(_.rows).sum,\n",
        new="    prepared.transactions.diff(lost).map(_.rows).sum,\n",
        test="SinkEndingsSuite",
        file="write/exactlyonce/SinkLog.scala",
    ),
)


def main() -> int:
    """Try them; the number of those that nobody noticed."""
    chosen = [control for control in CONTROLS if control.rule in sys.argv[1:] or not sys.argv[1:]]
    missed = [control.rule for control in chosen if not _is_noticed(control)]
    print(f"{len(chosen) - len(missed)} of {len(chosen)} missing rules were noticed", *missed, sep="\n  ")
    return len(missed)


def places(control: Control, root: Path = _ROOT) -> int:
    """How often what a control takes out is in the source; once, or the control is out of date."""
    return (root / _MAIN / control.file).read_text(encoding="utf-8").count(control.old)


def _is_noticed(control: Control) -> bool:
    _copy_source()
    file = _COPY / _MAIN / control.file
    text = file.read_text(encoding="utf-8")
    if places(control, _COPY) != 1:
        raise SystemExit(f"{control.rule}: {control.file} has {text.count(control.old)} places like {control.old!r}")
    file.write_text(text.replace(control.old, control.new), encoding="utf-8")
    is_noticed = _fault_test(control) if control.test.startswith("integration/") else _unit_suite(control)
    print(f"{control.rule}: {'noticed' if is_noticed else 'NOT NOTICED'} by {control.test}", flush=True)
    return is_noticed


def _fault_test(control: Control) -> bool:
    """Whether a test fails with a jar of the copy."""
    _sbt("connector/publish").check_returncode()
    (jar,) = (_COPY / "dist").glob("pulsar-spark-connector_2.13-*.jar")
    command = [sys.executable, "-m", "pytest", "-c", "python/pyproject.toml", "--rootdir=.", "-q", control.test]
    with (_COPY / "test.log").open("wb") as log:
        code = subprocess.run(
            command,
            cwd=_ROOT,
            env={**os.environ, "PULSAR_SPARK_JAR": str(jar)},
            stdout=log,
            stderr=subprocess.STDOUT,
            timeout=_SECONDS,
            check=False,
        ).returncode
    if code not in (0, _FAILED):
        raise SystemExit(f"{control.rule}: the test did not run, see {log.name}")
    return code == _FAILED


def _unit_suite(control: Control) -> bool:
    """Whether a suite of the copy fails."""
    _sbt("connector/Test/compile").check_returncode()
    return _sbt(f"connector/testOnly *.{control.test}").returncode != 0


def _sbt(command: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([_COPY / "tools/sbt", "-warn", command], check=False, cwd=_COPY, timeout=_SECONDS)


def _copy_source() -> None:
    """What git tracks, as it is in the working tree; what was compiled before stays."""
    tracked = subprocess.run(
        ["git", "ls-files", "-z"],
        cwd=_ROOT,
        check=True,
        capture_output=True,
    ).stdout
    for name in filter(None, tracked.decode().split("\0")):
        source, target = _ROOT / name, _COPY / name
        if not target.exists() or source.read_bytes() != target.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    if not (_COPY / ".venv").exists():
        (_COPY / ".venv").symlink_to(_ROOT / ".venv")


if __name__ == "__main__":
    sys.exit(main())
