"""One target of Python in Atheris: ``python -m fuzz.atheris_run TARGET``, then arguments of libFuzzer."""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["pulsar_spark"]):
    from fuzz.python_targets import targets
    from fuzz.rule import check


def main() -> None:
    """Run until libFuzzer ends the process."""
    target = targets()[sys.argv.pop(1)]

    def one(data: bytes) -> None:
        check(target, data.decode("utf-8", "replace"))

    atheris.Setup(sys.argv, one)
    atheris.Fuzz()


main()
