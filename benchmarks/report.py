"""Tables from the results of a run: ``python -m benchmarks.report results.json`` writes ``results.md`` beside it."""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path
from typing import Any

from benchmarks.workloads import JOB_TITLES, PEAK_MEMORY_MEGABYTES, TITLES, Contender, Workload

Result = dict[str, Any]


class Figures:
    """The rounds of one contender in one case."""

    def __init__(self, counted: list[dict[str, Any]]) -> None:
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


def tables(result: Result) -> str:
    """Everything as Markdown, of a run that was stopped what there is."""
    measured = {one["case"] for one in result["measured"]}
    result = result | {"cases": [case for case in result["cases"] if case["name"] in measured]}
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
    loads = [one["load"] for one in result["measured"]]
    lines = [
        f"- date: {result['date']}; {result['rounds']} rounds after warming up, contenders in turn",
        f"- machine: {machine['cores']} cores, {machine['cpu']}, {machine['memory_gb']} GB, {machine['system']}",
        f"- load average: {machine['load_before'][0]} before, {min(loads)} to {max(loads)} meanwhile, own included",
        *(f"- {name}: {text}" for name, text in {**result["versions"], **result["settings"]}.items()),
    ]
    return "Made by `make bench`, not by hand.\n\n" + "\n".join(lines)


def _cases(result: Result, cases: list[dict[str, Any]]) -> str:
    """Rows per second and CPU of every contender; median (least to most)."""
    contenders = [c for c in TITLES if any(c in case["contenders"] for case in cases)]
    others = [c for c in contenders if c != "connector"]
    head = ["messages"]
    head += [f"{TITLES[c]}, k rows/s" for c in contenders]
    head += [f"{TITLES[c]}, CPU us/row" for c in contenders]
    head += [f"of it compiling, {TITLES['connector']}"]
    head += [f"rows/s to {TITLES[c]}" for c in others] + [f"CPU to {TITLES[c]}" for c in others]
    head += ["Pulsar server, CPU us/row", *(["Kafka server, CPU us/row"] if "kafka" in contenders else [])]
    lines = [head, ["---"] + ["--:"] * (len(head) - 1)]
    for case in cases:
        figures = figures_of(result, case["name"])
        own = figures["connector"]
        line = [Workload(**case["workload"]).title]
        line += [_spread(figures.get(c), "rows", 1e3, 0) for c in contenders]
        line += [_spread(figures.get(c), "cpu", 1, 2) for c in contenders]
        line.append(f"{own.median('compiling'):.2f}")
        for measure in ("rows", "cpu"):
            for other in others:
                line.append(f"{own.median(measure) / figures[other].median(measure):.2f}" if other in figures else "")
        line.append(f"{own.median('server'):.1f}")
        if "kafka" in contenders:
            line.append(f"{figures['kafka'].median('server'):.1f}")
        lines.append(line)
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    note = "Median (least to most) of the rounds."
    if cases[0]["job"] == "write" and result["input"]:
        costs = {
            one["case"]: statistics.median(one["cpu"]) / case["workload"]["count"] * 1e6
            for case in cases
            for one in result["input"]
            if one["case"] == case["name"]
        }
        spread = f"{min(costs.values()):.2f} to {max(costs.values()):.2f}"
        note += f" Both Spark columns include what making the rows costs: {spread} us of CPU per row."
    return f"{note}\n\n{table}"


def _spread(figures: Figures | None, measure: str, unit: float, digits: int) -> str:
    if figures is None:
        return ""
    values = [value / unit for value in getattr(figures, measure)]
    return f"**{statistics.median(values):,.{digits}f}** ({min(values):,.{digits}f}-{max(values):,.{digits}f})"


def _targets(result: Result) -> str:
    lines = ["| job | messages | target | reached | met |", "|---|---|---|--:|---|"]
    for case in result["cases"]:
        figures = figures_of(result, case["name"])
        for target in case["targets"]:
            wanted, reached, met = _compare(figures, target)
            title = Workload(**case["workload"]).title
            lines.append(
                f"| {JOB_TITLES[case['job']]} | {title} | {wanted} | {reached} | {'yes' if met else '**no**'} |"
            )
    for one in result["memory"]:
        if one["contender"] == "connector":
            case = next(case for case in result["cases"] if case["name"] == one["case"])
            met = one["peak_mb"] < PEAK_MEMORY_MEGABYTES
            title = Workload(**case["workload"]).title
            lines.append(
                f"| {JOB_TITLES[case['job']]} | {title} | less than {PEAK_MEMORY_MEGABYTES:,.0f} MB resident "
                f"| {one['peak_mb']:,} MB | {'yes' if met else '**no**'} |"
            )
    return "\n".join(lines)


def _compare(figures: dict[Contender, Figures], target: dict[str, Any]) -> tuple[str, str, bool]:
    measure, baseline, bound = target["measure"], target["baseline"], target["bound"]
    own = figures["connector"].median(measure)
    if baseline is None:
        return f"at most {bound} us of CPU per row", f"{own:.2f} us", own <= bound
    ratio = own / figures[baseline].median(measure)
    if measure == "rows":
        return f"at least {bound} x the rows/s of {TITLES[baseline]}", f"{ratio:.2f} x", ratio >= bound
    return f"at most {bound} x the CPU per row of {TITLES[baseline]}", f"{ratio:.2f} x", ratio <= bound


def _memory(result: Result) -> str:
    lines = ["Most resident memory of a fresh Spark JVM, from its start through three rounds of the job.", ""]
    lines += ["| job | messages | pulsar-spark | Spark-Kafka |", "|---|---|--:|--:|"]
    for case in result["cases"]:
        peaks = {one["contender"]: one["peak_mb"] for one in result["memory"] if one["case"] == case["name"]}
        if peaks:
            title = Workload(**case["workload"]).title
            lines.append(f"| {JOB_TITLES[case['job']]} | {title} | {peaks['connector']:,} MB | {peaks['kafka']:,} MB |")
    return "\n".join(lines)


if __name__ == "__main__":
    source = Path(sys.argv[1])
    source.with_suffix(".md").write_text(tables(json.loads(source.read_text(encoding="utf-8"))), encoding="utf-8")
