"""Commands on the pages for users are such that this version accepts."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from pulsar_spark import cli

ROOT = Path(__file__).resolve().parents[3]
FENCE = re.compile(r"^```(?:bash|sh)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?:\w+=\S+ )*pulsar-spark (.*)$", re.MULTILINE)


def commands() -> list[str]:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs" / "use").glob("*.md"))]
    texts = (fence for page in pages for fence in FENCE.findall(page.read_text(encoding="utf-8")))
    return sorted({command for text in texts for command in COMMAND.findall(text)})


@pytest.mark.parametrize("command", commands())
def test_a_command_is_accepted(command: str) -> None:
    words = shlex.split(command, comments=True)
    if words == ["--version"]:
        return
    assert callable(cli.parser().parse_args(words).run)


def test_there_are_commands() -> None:
    assert len(commands()) > 10
