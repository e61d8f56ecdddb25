"""``python -m pulsar_spark.local.maven``; see the package."""

from __future__ import annotations

import argparse
import sys

from pulsar_spark.local.errors import FetchError
from pulsar_spark.local.maven.download import fetch


def main(arguments: list[str] | None = None) -> int:
    """Fetch one coordinate and print its path; see the package."""
    parser = argparse.ArgumentParser(
        prog="python -m pulsar_spark.local.maven", description="Fetch a file from the Maven registry."
    )
    parser.add_argument("coordinate", help="group:artifact:version[:classifier][@ext]")
    parser.add_argument("--sha256", help="the checksum the file must have")
    chosen = parser.parse_args(arguments)
    try:
        print(fetch(chosen.coordinate, sha256=chosen.sha256))
    except FetchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
