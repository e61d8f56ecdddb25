"""The ``pulsar-spark`` command.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 ``local status`` found no running server, 130 interrupted by Ctrl-C.
Results go to stdout, progress and errors to stderr. With ``--json`` stdout has one JSON object: the result, or
``{"error": {"message": ...}}``, with the condition of the error if it has one.
"""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING

from pulsar_spark._version import __version__
from pulsar_spark.cli.completion import add_completion
from pulsar_spark.cli.demo import add_demo
from pulsar_spark.cli.doctor import add_doctor
from pulsar_spark.cli.explain import add_explain
from pulsar_spark.cli.inspect import add_inspect
from pulsar_spark.cli.lag import add_lag
from pulsar_spark.cli.local import add_local
from pulsar_spark.cli.options import add_options
from pulsar_spark.cli.output import FAILED, INTERRUPTED, USAGE, Parser, UsageError, fail, say, sayable, silence
from pulsar_spark.cli.peek import add_peek
from pulsar_spark.cli.sink import add_sink
from pulsar_spark.errors import PulsarOptionError, PulsarSparkError
from pulsar_spark.local import LocalPulsarError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence


def parser() -> argparse.ArgumentParser:
    """The command line; each verb sets ``run`` to its function."""
    top: argparse.ArgumentParser = Parser(prog="pulsar-spark", description="Pulsar and Spark from the command line.")
    top.add_argument("--version", action="version", version=f"pulsar-spark {__version__}")
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for add in (add_local, add_options, add_explain, add_doctor, add_inspect, add_peek, add_lag, add_sink, add_demo):
        add(commands)
    add_completion(commands, parser)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    sayable()
    try:
        try:
            return _run(sys.argv[1:] if arguments is None else list(arguments))
        finally:
            sys.stdout.flush()  # here, and not when Python ends, which would print a traceback
    except BrokenPipeError:  # as in `pulsar-spark options | head`
        silence()
        return FAILED
    except OSError as error:  # such as a full disk
        silence()
        say(f"error: {error}")
        return FAILED


def _run(words: list[str]) -> int:
    try:
        chosen = parser().parse_args(words)
    except UsageError as error:
        as_json = "--json" in words
        if not as_json:
            say(error.usage.rstrip())
        sys.exit(fail(error, as_json=as_json, code=USAGE))
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    logging.getLogger("pulsar_spark").setLevel(logging.INFO)
    try:
        code: int = chosen.run(chosen)
        return code
    except PulsarOptionError as error:
        return fail(error, as_json=chosen.json, code=USAGE)
    except (LocalPulsarError, PulsarSparkError) as error:
        return fail(error, as_json=chosen.json)
    except BrokenPipeError:
        raise
    except OSError as error:  # such as a file that an argument names
        return fail(error, as_json=chosen.json)
    except KeyboardInterrupt:
        if chosen.json:
            return fail(InterruptedError("Interrupted."), as_json=True, code=INTERRUPTED)
        say("Interrupted.")
        return INTERRUPTED
