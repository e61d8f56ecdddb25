"""Exit codes and messages of all verbs."""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from typing import TYPE_CHECKING, NoReturn

from pulsar_spark.errors import facts

if TYPE_CHECKING:
    from pulsar_spark._grid import Grid

DONE, FAILED, USAGE, NOT_RUNNING = 0, 1, 2, 3
INTERRUPTED = 130  # as shells report a process that SIGINT ended


class UsageError(Exception):
    """The arguments of the command are wrong.

    Attributes:
        usage: The arguments that the verb takes.
    """

    def __init__(self, usage: str, message: str) -> None:
        super().__init__(message)
        self.usage = usage


class Parser(argparse.ArgumentParser):
    """A parser that raises errors, so that they can be JSON, too."""

    def error(self, message: str) -> NoReturn:
        """Raise an error of the arguments."""
        raise UsageError(self.format_usage(), f"{self.prog}: {message}")


def sayable() -> None:
    """Let every text be printed: characters that the terminal's encoding lacks become escapes, as on stderr."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def silence() -> None:
    """Drop what stdout has not printed yet and cannot print, so that Python does not try again when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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


def print_grid(table: Grid, nothing: str) -> None:
    """Print a table, by rich in a terminal where it is installed.

    Args:
        table: The table.
        nothing: The text that says that there are no rows.
    """
    if not table.rows:
        print(nothing)
        return
    try:
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        pass
    else:
        console = Console()
        if console.is_terminal:
            shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
            for name, *_ in table.columns:
                shown.add_column(name, justify="right" if name in table.right else "left", overflow="fold")
            for row in zip(*(column[1:] for column in table.columns), strict=True):
                shown.add_row(*(Text(cell) for cell in row))
            console.print(shown)
            return
    print("\n".join(table.lines()))
