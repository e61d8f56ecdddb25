"""The verbs that diagnose: ``doctor`` for the way to a cluster, ``checkpoint`` for what a query has kept."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pulsar_spark.cli.inspect import add_verb, answer, show
from pulsar_spark.cli.output import DONE, FAILED
from pulsar_spark.errors import PulsarCheckpointError, PulsarOptionError
from pulsar_spark.options import durations
from pulsar_spark.options.iso import iso_time
from pulsar_spark.options.times import time_text

if TYPE_CHECKING:
    import argparse

    from pulsar_spark.cli.inspect import Verbs

_WIDTH = 110
_MARKS = {"ok": "ok", "warn": "warn", "fail": "FAIL", "skipped": "-"}
_ALLOWANCE = "10m"
_NEXT = """
These are options of a query with a new checkpoint, which starts with another cluster where the old one stopped.
It reads the messages since then again. Each is known by __producerName and __sequenceId, which replication keeps.
"""


def add_doctor(commands: Verbs) -> None:
    """Add the verbs to the command line."""
    doctor = add_verb(commands, "doctor", _doctor, "examine the way to a cluster and to topics, hop by hop")
    doctor.add_argument("topic", nargs="*", help="topics that should be readable")
    doctor.add_argument("--write", action="store_true", help="try the right to produce, too; nothing is sent")
    summary = "show what the checkpoint of a streaming query says"
    verbs = commands.add_parser("checkpoint", help=summary, description=summary).add_subparsers(
        title="commands", required=True, metavar="COMMAND"
    )
    inspect = add_verb(verbs, "inspect", _inspect, f"{summary}: positions, losses, who wrote it")
    restart = add_verb(
        verbs, "restart", _restart, "print where a query starts with another cluster, whose positions differ"
    )
    for verb in (inspect, restart):
        verb.add_argument("folder", help="the checkpoint, on any file system that Spark's Hadoop reads")
    restart.add_argument(
        "--allowance",
        default=_ALLOWANCE,
        metavar="TIME",
        help="how much earlier, for clocks that differ and for what a limit left unread (default: %(default)s)",
    )


def _doctor(chosen: argparse.Namespace) -> int:
    more = {"topics": ",".join(chosen.topic) or None, "write": "true" if chosen.write else None}
    steps = answer(chosen, "doctor", more).records()
    print(json.dumps({"steps": steps}) if chosen.json else _examination(steps))
    return FAILED if any(step["state"] == "fail" for step in steps) else DONE


def _examination(steps: list[dict[str, Any]]) -> str:
    """The steps, each with what to do about it, and how many failed."""
    width = max((len(step["step"]) for step in steps), default=0)
    lines = []
    for step in steps:
        took = f"  {step['tookMs']} ms" if step["tookMs"] else ""
        mark = _MARKS.get(step["state"], step["state"])
        lines.append(f"  {mark:4}  {step['step']:{width}}  {step['detail'] or ''}{took}".rstrip())
        if step["condition"]:
            text = f"{step['action'] or ''} ({step['condition']})"
            lines += textwrap.wrap(text, _WIDTH, initial_indent=" " * 8, subsequent_indent=" " * 8)
    counted = Counter(step["state"] for step in steps)
    found = [_plural(counted[state], word) for state, word in (("fail", "failure"), ("warn", "warning"))]
    return "\n".join([*lines, f"{', '.join(filter(None, found)) or 'Nothing is wrong'}."])


def _records(chosen: argparse.Namespace) -> Any:  # noqa: ANN401 - as `answer`
    return answer(chosen, "checkpoint", {"checkpoint": chosen.folder}, needs_cluster=False)


def _inspect(chosen: argparse.Namespace) -> int:
    return show(chosen, _records(chosen), "records")


def _restart(chosen: argparse.Namespace) -> int:
    allowance = durations.milliseconds(chosen.allowance)
    if allowance is None:
        raise PulsarOptionError(
            "PULSAR_OPTION_INVALID", option="--allowance", value=chosen.allowance, allowed=durations.form(0)
        )
    starts = [_start(one, allowance) for one in _records(chosen).records() if one["record"] == "time"]
    if not starts:
        why = "the time of its last micro-batch is not known, or it has committed none"
        raise PulsarCheckpointError("PULSAR_CHECKPOINT_WITHOUT_POSITION", path=chosen.folder, topic="Pulsar", why=why)
    if chosen.json:
        print(json.dumps({"starts": starts}))
    else:
        for one in starts:
            source = f"source {one['source']}, " if len(starts) > 1 else ""
            print(
                f"startingTime={one['startingTime']}  ({source}read until {one['readUntil']}, less {chosen.allowance})"
            )
        print(_NEXT.rstrip())
    return DONE


def _start(record: dict[str, Any], allowance: int) -> dict[str, Any]:
    """The start of a source: the publish time up to which it has read, less the allowance."""
    until = iso_time(record["detail"])
    return {
        "source": record["source"],
        "batch": record["batch"],
        "readUntil": time_text(until),
        "startingTime": time_text(until - timedelta(milliseconds=allowance)),
    }


def _plural(number: int, word: str) -> str:
    return "" if number == 0 else f"{number} {word}" if number == 1 else f"{number} {word}s"
