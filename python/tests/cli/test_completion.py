"""The completion of the command, by bash itself."""

from __future__ import annotations

import re
import subprocess

import pytest

from pulsar_spark import cli
from pulsar_spark.cli.completion import script


def completed(*words: str) -> list[str]:
    typed = " ".join(f"'{word}'" for word in ("pulsar-spark", *words))
    call = f'COMP_WORDS=({typed}); COMP_CWORD={len(words)}; _pulsar_spark; echo "${{COMPREPLY[@]}}"'
    program = f"{script(cli.parser(), 'bash')}\n{call}"
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
        (("completion", "fi"), ["fish"]),
        (("nosuch",), []),
        (("local", "start", "--name", "sta"), []),
    ],
)
def test_what_bash_proposes(words: tuple[str, ...], found: list[str]) -> None:
    assert completed(*words) == found


def test_zsh_runs_the_completion_of_bash() -> None:
    assert script(cli.parser(), "zsh").endswith(f"bashcompinit\n{script(cli.parser(), 'bash')}")


def test_fish_has_the_same_words() -> None:
    text = script(cli.parser(), "fish")
    assert text.endswith('complete -c pulsar-spark -a "(__pulsar_spark)"')
    cases = dict(re.findall(r'case "([^"]*)"\n +string split -- " " "([^"]*)"', text))
    assert cases[" local"].split()[:3] == ["start", "stop", "status"]
    assert "--service-url" in cases[" partitions"].split()
    paths = re.search(r"case (.*)", text)
    assert paths is not None
    assert {name for name in cases if name} == set(re.findall(r'"([^"]+)"', paths[1]))
