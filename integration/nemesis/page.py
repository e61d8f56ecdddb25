"""The page of runs."""

from __future__ import annotations

import statistics
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nemesis.records import Record
    from nemesis.rounds import Event

_HEAD = """# Results of the nemesis

Made by `make nemesis`, not by hand, from [nemesis-results.json](nemesis-results.json). A writer counts with keys, a
stream copies its topic at least once, another one exactly once, and batch reads read all of it again and again, in two
executors before a cluster of ZooKeeper, three bookies and two brokers. Meanwhile one fault after the other happens, in
an order of chance. [Nemesis](nemesis.md) says what is checked.

{verdict}

<picture>
  <source media="(prefers-color-scheme: dark)" srcset="nemesis-results-dark.svg">
  <img alt="Rows copied, and faults, over time" src="nemesis-results-light.svg">
</picture>

"""
_GOOD = (
    "**Nothing is wrong**: all that was acknowledged is in both copies, in order within each key, in the second one "
    "exactly once; nothing was invented or left behind."
)
_FIGURES = (
    "Load: how many processes other work had on the cores when the run began. Acknowledged: messages that brokers "
    "acknowledged. More are stored where the writer gave up a message that a broker had. Where its client lost a reply "
    "and sent again, the topic has the message twice. Rows of a copy are repeated when it has them more often than the "
    "topic."
)


def page(runs: Sequence[Record]) -> str:
    """All of it, with the pictures beside it."""
    parts = (_runs(runs), _reads(runs), _faults(runs), _ended(runs))
    return _HEAD.format(verdict="\n".join(_verdict(runs))) + "\n\n".join("\n".join(part) for part in parts) + "\n"


def _verdict(runs: Sequence[Record]) -> Iterable[str]:
    if not any(one.problems for one in runs):
        yield _GOOD
        return
    for one in (run for run in runs if run.problems):
        yield from (f"**{len(one.problems)} problems with the seed {one.seed}**:", "")
        yield from (*(f"- {text}" for text in one.problems), "")


def _runs(runs: Sequence[Record]) -> Iterable[str]:
    kinds = list(dict.fromkeys(chain.from_iterable(one.copies for one in runs)))
    columns = ("load", "minutes", "faults", "that bit", "acknowledged", "stored", *kinds, "problems")
    yield f"| seed | of | {' | '.join(columns)} |"
    yield f"|--:|---|{'--:|' * len(columns)}"
    for one in runs:
        copies = [f"{one.copies[kind]['rows']:,} ({one.copies[kind]['repeated']:,} repeated)" for kind in kinds]
        figures = (
            str(one.place["load_before"]),
            f"{one.seconds / 60:.0f}",
            str(len(one.events)),
            str(sum(event.bit for event in one.events)),
            f"{one.messages['acknowledged']:,}",
            f"{one.messages['stored']:,} ({one.messages['stored again']:,} twice)",
            *copies,
            str(len(one.problems)),
        )
        yield f"| {one.seed} | {_place(one)} | {' | '.join(figures)} |"
    yield from ("", _FIGURES)
    yield from ("", *dict.fromkeys(map(_machine, runs)))


def _place(run: Record) -> str:
    return f"{run.place['date']}, version {run.place['version']} ({run.place['commit']})"


def _machine(run: Record) -> str:
    return (
        "Spark {spark} and Pulsar {server} shared {cores} cores of {cpu} and {memory_gb} GB with other work, "
        "on {system}."
    ).format_map(run.place)


def _reads(runs: Sequence[Record]) -> Iterable[str]:
    totals: dict[str, Counter[str]] = {}
    for level, counts in chain.from_iterable(one.reads.items() for one in runs):
        totals.setdefault(level, Counter()).update(counts)
    yield from ("| batch reads | number | rows | entries of brokers | of bookies | of tiered storage |",)
    yield "|---|--:|--:|--:|--:|--:|"
    for level, found in sorted(totals.items()):
        figures = (found[name] for name in ("reads", "rows", "broker", "bookies", "tiered"))
        yield f"| `readLevel={level}` | {' | '.join(f'{one:,}' for one in figures)} |"


def _faults(runs: Sequence[Record]) -> Iterable[str]:
    by_name: dict[str, list[Event]] = {}
    for event in chain.from_iterable(one.events for one in runs):
        by_name.setdefault(event.name, []).append(event)
    yield "Recovered: seconds from the end of the fault until both streams had copied another batch."
    yield ""
    yield from ("| fault | times | that bit | recovered, median s | slowest s |", "|---|--:|--:|--:|--:|")
    for name, some in sorted(by_name.items()):
        times = [one.recovered for one in some if one.recovered is not None]
        figures = f"{statistics.median(times):.1f} | {max(times):.1f}" if len(times) == len(some) else "never | "
        yield f"| {name} | {len(some)} | {sum(one.bit for one in some)} | {figures} |"


def _ended(runs: Sequence[Record]) -> Iterable[str]:
    """Queries that ended, which a scheduler starts again."""
    counted: Counter[tuple[str, str]] = Counter()
    for query, condition, count in chain.from_iterable(one.ended for one in runs):
        counted[query, condition] += count
    if not counted:
        yield "No query ended by itself."
        return
    yield "Queries that ended by themselves, and were started again:"
    yield ""
    yield from ("| query | condition | times |", "|---|---|--:|")
    for (query, condition), count in sorted(counted.items()):
        yield f"| {query} | `{condition}` | {count} |"
