"""Tables from the results of runs: ``python -m benchmarks.report results.json`` writes ``results.md`` beside it."""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.workloads import JOB_TITLES, PEAK_MEMORY_MEGABYTES, SPARK, TITLES, Contender, Workload

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Result = dict[str, Any]

OWN: tuple[Contender, ...] = ("segment", "single", "connector")
"""Ways of this connector."""

SHORT: dict[Contender, str] = {
    "segment": "segments",
    "single": "1 task",
    "connector": "brokers",
    "java": "Java",
    "fresh": "Java, own arrays",
    "kafka": "Kafka",
    "bookies": "BookKeeper",
}


_RUNS = (
    "A case is measured in one run, warmed up before, its contenders in turn; those that were not measured again are "
    "from earlier runs:"
)


class Figures:
    """The rounds of one contender in one case."""

    def __init__(self, counted: list[dict[str, Any]]) -> None:
        self.bytes = [one.get("bytes", 0) / one["seconds"] for one in counted]
        self.rows = [one["rows"] / one["seconds"] for one in counted]
        self.cpu = [one["cpu"] / one["rows"] * 1e6 for one in counted]
        self.compiling = [one["compiling"] / one["rows"] * 1e6 for one in counted]
        self.server = [one["server_cpu"] / one["rows"] * 1e6 for one in counted]

    def median(self, measure: str) -> float:
        """The middle of all rounds."""
        values: list[float] = getattr(self, measure)
        return statistics.median(values)


def figures_of(result: Result, case: str) -> dict[Contender, Figures]:
    """The figures of a case's contenders."""
    return {
        contender: Figures(rounds)
        for contender in TITLES
        if (rounds := [one for one in result["measured"] if (one["case"], one["contender"]) == (case, contender)])
    }


def keep(page: Path, text: str) -> None:
    """Write a page of results, and show it."""
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text, encoding="utf-8")
    print(text)


def tables(result: Result) -> str:
    """Everything as Markdown."""
    parts = ["# Results", _setting(result), "## Targets", _targets(result)]
    for job, title in JOB_TITLES.items():
        cases = [case for case in result["cases"] if case["job"] == job]
        if cases:
            parts += [f"## {title[0].upper()}{title[1:]}", _cases(result, cases)]
    if result["memory"]:
        parts += ["## Memory", _memory(result)]
    return "\n\n".join(parts) + "\n"


def _setting(result: Result) -> str:
    machine = result["machine"]
    lines = [
        f"- machine: {machine['cores']} cores, {machine['cpu']}, {machine['memory_gb']} GB, {machine['system']}",
        *(f"- {name}: {text}" for name, text in {**result["versions"], **result["settings"]}.items()),
    ]
    runs = [
        "| run | pulsar-spark | rounds | load average before | meanwhile, own included | CPU stolen | cases |",
        "|---|---|--:|--:|--:|--:|---|",
        *(_run(result, run) for run in result["runs"]),
    ]
    parts = ["Made by `make bench`, not by hand.", "\n".join(lines), _RUNS, "\n".join(runs)]
    return "\n\n".join(parts)


def _run(result: Result, run: dict[str, Any]) -> str:
    rounds = [one for one in result["measured"] if one["case"] in run["cases"]]
    loads, stolen = ([one.get(name) for one in rounds] for name in ("load", "stolen"))
    cells = [
        run["date"],
        run["version"],
        str(run["rounds"]),
        str(run["load_before"]),
        f"{min(loads)} to {max(loads)}",
        "unknown" if None in stolen else f"{min(stolen):.1%} to {max(stolen):.1%}",
        ", ".join(run["cases"]),
    ]
    return f"| {' | '.join(cells)} |"


def _cases(result: Result, cases: list[dict[str, Any]]) -> str:
    """What every contender of these cases reached, a table for each measure."""
    contenders = [c for c in TITLES if any(c in case["contenders"] for case in cases)]
    figures = {case["name"]: figures_of(result, case["name"]) for case in cases}
    own = [c for c in OWN if c in contenders]
    others = [c for c in contenders if c not in own]

    def table(head: list[str], cells: Callable[[dict[Contender, Figures]], list[str]]) -> str:
        rows = [[Workload(**case["workload"]).title, *cells(figures[case["name"]])] for case in cases]
        lines = [["messages", *head], ["---"] + ["--:"] * len(head), *rows]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)

    def every(measure: str, unit: float, digits: int) -> str:
        titles = [TITLES[c] for c in contenders]
        return table(titles, lambda found: [_cell(found.get(c), measure, unit, digits) for c in contenders])

    pairs: list[tuple[Contender, Contender]] = [("segment", other) for other in (*own[1:], *others) if "segment" in own]
    pairs += [("connector", other) for other in others if other != "bookies"]
    servers = [c for c in contenders if c != "single"]
    parts = ["Thousand rows per second, median (least to most) of the rounds:", every("rows", 1e3, 0)]
    parts += [
        "How many times the rows per second of the other:",
        table([f"{SHORT[c]} to {SHORT[o]}" for c, o in pairs], lambda f: [_ratio(f, c, o) for c, o in pairs]),
        "CPU time of the process that does it, us per row" + _input_note(result, cases) + ":",
        every("cpu", 1, 2),
        "Of it compiling Java code, and CPU time of the server, us per row:",
        table(
            [*(f"{SHORT[c]}, compiling" for c in own), *(f"server of {SHORT[c]}" for c in servers)],
            lambda f: [*(_middle(f, c, "compiling", 2) for c in own), *(_middle(f, c, "server", 1) for c in servers)],
        ),
    ]
    if "bookies" in contenders:
        parts += ["Stored entries:", _entries(cases, figures)]
    return "\n\n".join(parts)


def _entries(cases: list[dict[str, Any]], figures: dict[str, dict[Contender, Figures]]) -> str:
    """Entries per second of those who read them from bookies."""
    lines = ["| messages | segments, k entries/s | BookKeeper client, k entries/s | BookKeeper client, MB/s |"]
    lines.append("|---|--:|--:|--:|")
    for case in cases:
        found, batch = figures[case["name"]], case["workload"]["batch"]
        cells = [_middle(found, c, "rows", 1, 1e3 * batch) for c in ("segment", "bookies")]
        cells.append(_middle(found, "bookies", "bytes", 0, 1e6))
        lines.append(f"| {Workload(**case['workload']).title} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _input_note(result: Result, cases: list[dict[str, Any]]) -> str:
    costs = [
        statistics.median(one["cpu"]) / case["workload"]["count"] * 1e6
        for case in cases
        for one in result["input"]
        if one["case"] == case["name"]
    ]
    return f" (in Spark {min(costs):.2f} to {max(costs):.2f} of it for making the rows)" if costs else ""


def _ratio(figures: dict[Contender, Figures], one: Contender, other: Contender) -> str:
    if one not in figures or other not in figures:
        return ""
    return f"{figures[one].median('rows') / figures[other].median('rows'):.2f}"


def _middle(
    figures: dict[Contender, Figures], contender: Contender, measure: str, digits: int, unit: float = 1.0
) -> str:
    return f"{figures[contender].median(measure) / unit:,.{digits}f}" if contender in figures else ""


def _cell(figures: Figures | None, measure: str, unit: float, digits: int) -> str:
    return "" if figures is None else spread([value / unit for value in getattr(figures, measure)], digits)


def typical(millis: Sequence[int]) -> str:
    """The median, and the 99th percentile in brackets, which is none above the largest."""
    return f"{statistics.median(millis):.0f} ({statistics.quantiles(millis, n=100, method='inclusive')[98]:.0f})"


def spread(values: Sequence[float], digits: int = 0) -> str:
    """The median of some rounds, with the least and the most."""
    return f"**{statistics.median(values):,.{digits}f}** ({min(values):,.{digits}f}-{max(values):,.{digits}f})"


def _targets(result: Result) -> str:
    lines = ["| job | messages | way | target | reached | met |", "|---|---|---|---|--:|---|"]

    def add(case: dict[str, Any], way: Contender, wanted: str, reached: str, *, met: bool) -> None:
        cells = [JOB_TITLES[case["job"]], Workload(**case["workload"]).title, TITLES[way], wanted, reached]
        lines.append("| " + " | ".join([*cells, "yes" if met else "**no**"]) + " |")

    for case in result["cases"]:
        figures = figures_of(result, case["name"])
        for target in case["targets"]:
            wanted, reached, met = _compare(figures, target)
            add(case, target.get("contender", "connector"), wanted, reached, met=met)
    for one in result["memory"]:
        if one["contender"] in OWN:
            case = next(case for case in result["cases"] if case["name"] == one["case"])
            wanted = f"less than {PEAK_MEMORY_MEGABYTES:,.0f} MB resident"
            add(case, one["contender"], wanted, f"{one['peak_mb']:,} MB", met=one["peak_mb"] < PEAK_MEMORY_MEGABYTES)
    return "\n".join(lines)


def _compare(figures: dict[Contender, Figures], target: dict[str, Any]) -> tuple[str, str, bool]:
    measure, baseline, bound = target["measure"], target["baseline"], target["bound"]
    own = figures[target.get("contender", "connector")].median(measure)
    if baseline is None and measure == "rows":
        return f"at least {bound:,.0f} rows/s", f"{own:,.0f}", own >= bound
    if baseline is None:
        return f"at most {bound} us of CPU per row", f"{own:.2f} us", own <= bound
    ratio = own / figures[baseline].median(measure)
    if measure == "rows":
        return f"at least {bound} x the rows/s of {TITLES[baseline]}", f"{ratio:.2f} x", ratio >= bound
    return f"at most {bound} x the CPU per row of {TITLES[baseline]}", f"{ratio:.2f} x", ratio <= bound


def _memory(result: Result) -> str:
    lines = ["Most resident memory of a fresh Spark JVM, from its start through three rounds of the job.", ""]
    contenders = [c for c in SPARK if any(one["contender"] == c for one in result["memory"])]
    lines += [
        f"| job | messages | {' | '.join(TITLES[c] for c in contenders)} |",
        f"|---|---{'|--:' * len(contenders)}|",
    ]
    for case in result["cases"]:
        peaks = {one["contender"]: one["peak_mb"] for one in result["memory"] if one["case"] == case["name"]}
        if peaks:
            cells = [f"{peaks[c]:,} MB" if c in peaks else "" for c in contenders]
            title = Workload(**case["workload"]).title
            lines.append(f"| {JOB_TITLES[case['job']]} | {title} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    source = Path(sys.argv[1])
    source.with_suffix(".md").write_text(tables(json.loads(source.read_text(encoding="utf-8"))), encoding="utf-8")
