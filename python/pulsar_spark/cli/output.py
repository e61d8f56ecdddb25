"""Exit codes and messages of all verbs."""

from __future__ import annotations

import json
import sys

from pulsar_spark.errors import facts

DONE, FAILED, USAGE, NOT_RUNNING = 0, 1, 2, 3
INTERRUPTED = 130  # as shells report a process that SIGINT ended


def say(text: str) -> None:
    """Report progress or an error on stderr."""
    print(text, file=sys.stderr, flush=True)


def fail(error: Exception, *, as_json: bool, code: int = FAILED) -> int:
    """Report an error: on stderr, or as one JSON object on stdout; returns the exit code."""
    if as_json:
        print(json.dumps(facts(error)), flush=True)
    else:
        say(f"error: {error}")
    return code
