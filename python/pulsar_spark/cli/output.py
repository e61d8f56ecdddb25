"""Exit codes and messages of all verbs."""

from __future__ import annotations

import sys

DONE, FAILED, NOT_RUNNING = 0, 1, 3


def say(text: str) -> None:
    """Report progress or an error on stderr."""
    print(text, file=sys.stderr, flush=True)
