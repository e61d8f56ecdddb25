"""The verb ``pulsar-spark demo``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pulsar_spark.demo.command import add_arguments

if TYPE_CHECKING:
    import argparse


def add_demo(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    summary = "start a real Pulsar, fill it, then read, stream and write it with Spark"
    add_arguments(commands.add_parser("demo", help=summary, description=summary))
