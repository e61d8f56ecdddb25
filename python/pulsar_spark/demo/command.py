"""The command line of the demo; see the package."""

from __future__ import annotations

import argparse
import json
import logging
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pulsar_spark.demo.report import Report
from pulsar_spark.errors import PulsarSparkError, facts

if TYPE_CHECKING:
    from collections.abc import Sequence

DONE, FAILED, INTERRUPTED = 0, 1, 130

_JAVA_STACK = "\n\tat "


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the demo."""
    parser.add_argument(
        "--rides", type=_positive, default=220_000, help="number of rides at the start (default: %(default)s)"
    )
    parser.add_argument(
        "--live-seconds", type=float, default=8.0, help="how long more rides arrive (default: %(default)g)"
    )
    parser.add_argument("--seed", type=int, default=20_261_121, help="seed of the random rides (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print one JSON object; the report goes to stderr")
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """Run the demo; returns the exit code, 0 if every count is right."""
    report = Report(sys.stderr if chosen.json else sys.stdout)
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    for handler in logging.getLogger().handlers:
        handler.addFilter(_is_not_of_py4j)
    try:
        result = _tour(chosen, report)
    except ImportError as error:
        needs = ImportError(
            f"The demo needs Spark and the official client: {error}. Run: pip install 'pulsar-spark[demo]'"
        )
        return _fail(chosen, report, error if isinstance(error, PulsarSparkError) else needs)
    except KeyboardInterrupt:
        report.line("Interrupted; everything was stopped and removed.")
        if chosen.json:
            print(json.dumps(facts(InterruptedError("Interrupted."))))
        return INTERRUPTED
    except Exception as error:  # any error: the log was shown, and a stack trace of the JVM does not help here
        return _fail(chosen, report, error)
    if chosen.json:
        print(json.dumps(result))
    return DONE if result["ok"] else FAILED


def _fail(chosen: argparse.Namespace, report: Report, error: Exception) -> int:
    report.line(f"error: {str(error).partition(_JAVA_STACK)[0]}")
    if chosen.json:
        print(json.dumps(facts(error)))
    return FAILED


def _tour(chosen: argparse.Namespace, report: Report) -> dict[str, Any]:
    report.line(f"pulsar-spark demo, seed {chosen.seed}\n")
    from pulsar_spark.demo import tour

    return tour.run(tour.Settings(chosen.rides, chosen.live_seconds, chosen.seed), report)


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    """False for py4j's records in the root logger: stack traces of calls to Spark that Ctrl-C interrupted."""
    return "py4j" not in Path(record.pathname).parts


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo from the command line."""
    parser = argparse.ArgumentParser(prog="python -m pulsar_spark.demo", description="Read and write a real Pulsar.")
    add_arguments(parser)
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    logging.getLogger("pulsar_spark").setLevel(logging.INFO)
    return run(parser.parse_args(arguments))
