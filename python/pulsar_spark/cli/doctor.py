"""The verbs that diagnose: ``doctor`` for the way to a cluster, ``checkpoint inspect`` for what a query has kept."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from typing import TYPE_CHECKING, Any

from pulsar_spark.cli.inspect import add_verb, answer, show
from pulsar_spark.cli.output import DONE, FAILED

if TYPE_CHECKING:
    import argparse

    from pulsar_spark.cli.inspect import Verbs

_WIDTH = 110
_MARKS = {"ok": "ok", "warn": "warn", "fail": "FAIL", "skipped": "-"}


def add_doctor(commands: Verbs) -> None:
    """Add the verbs to the command line."""
    doctor = add_verb(commands, "doctor", _doctor, "examine the way to a cluster and to topics, hop by hop")
    doctor.add_argument("topic", nargs="*", help="topics that should be readable")
    doctor.add_argument("--write", action="store_true", help="try the right to produce, too; nothing is sent")
    summary = "show what the checkpoint of a streaming query says"
    verbs = commands.add_parser("checkpoint", help=summary, description=summary).add_subparsers(
        title="commands", required=True, metavar="COMMAND"
    )
    inspect = add_verb(verbs, "inspect", _checkpoint, f"{summary}: positions, losses, who wrote it")
    inspect.add_argument("folder", help="the checkpoint, on any file system that Spark's Hadoop reads")


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


def _checkpoint(chosen: argparse.Namespace) -> int:
    found = answer(chosen, "checkpoint", {"checkpoint": chosen.folder}, needs_cluster=False)
    return show(chosen, found, "records")


def _plural(number: int, word: str) -> str:
    return "" if number == 0 else f"{number} {word}" if number == 1 else f"{number} {word}s"
