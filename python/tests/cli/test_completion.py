"""The completion of the command, by bash itself."""

from __future__ import annotations

import subprocess

import pytest

from pulsar_spark import cli
from pulsar_spark.cli.completion import script


def completed(*words: str) -> list[str]:
    typed = " ".join(f"'{word}'" for word in ("pulsar-spark", *words))
    call = f'COMP_WORDS=({typed}); COMP_CWORD={len(words)}; _pulsar_spark; echo "${{COMPREPLY[@]}}"'
    program = f"{script(cli.parser())}\n{call}"
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("expl",), ["explain"]),
        (("local", "sta"), ["start", "status"]),
        (("local", "start", "--det"), ["--detach"]),
        (("partitions", "--serv"), ["--service-url"]),
        (("explain", "startingOf"), ["startingOffsets"]),
        (("explain", "PULSAR_TOPIC_NA"), ["PULSAR_TOPIC_NAME"]),
        (("nosuch",), []),
        (("local", "start", "--name", "sta"), []),
    ],
)
def test_what_bash_proposes(words: tuple[str, ...], found: list[str]) -> None:
    assert completed(*words) == found
