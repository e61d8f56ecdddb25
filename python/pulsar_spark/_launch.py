"""The jars and packages that a JVM starts with: settings of Spark, overridden by arguments of ``spark-submit``."""

from __future__ import annotations

import os
import shlex
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

JARS, PACKAGES = "spark.jars", "spark.jars.packages"

_ARGUMENTS = {JARS: "--jars", PACKAGES: "--packages"}
_CONF = ("--conf", "-c")
_VARIABLE = "PYSPARK_SUBMIT_ARGS"


def present(settings: Mapping[str, str], key: str) -> list[str]:
    """The parts of a list of jars or packages when the JVM starts."""
    argument = _argument(key)
    default = _default_setting(key) if argument is None else None
    return parts_of(argument) + parts_of(settings.get(key) or default)


def launched(settings: Mapping[str, str]) -> list[str]:
    """The jars and packages that the JVM starts with."""
    lists = (_argument(key) or settings.get(key) or _default_setting(key) for key in _ARGUMENTS)
    return [part for parts in lists for part in parts_of(parts)]


def parts_of(text: str | None) -> list[str]:
    """The parts of a list with commas."""
    return [part for part in (text or "").split(",") if part]


def without(parts: Sequence[str], file: str) -> list[str]:
    """The list without a file, which Spark changes to a URL when the JVM starts."""
    return [part for part in parts if part not in (file, f"file:{file}", f"file://{file}")]


def replace_argument(key: str, value: str) -> None:
    """Replace the value of a setting in ``PYSPARK_SUBMIT_ARGS``, if it is there."""
    words = _words()
    places = _places(words, key)
    for place in places:
        words[place] = value if words[place - 1] == _ARGUMENTS[key] else f"{key}={value}"
    if places:
        os.environ[_VARIABLE] = shlex.join(words)


def _argument(key: str) -> str | None:
    """The value of a setting in ``PYSPARK_SUBMIT_ARGS``, which overrides the one of the builder."""
    words = _words()
    places = _places(words, key)
    if not places:
        return None
    own = [place for place in places if words[place - 1] == _ARGUMENTS[key]]  # overrides --conf
    return words[own[-1]] if own else words[places[-1]].partition("=")[2]


def _places(words: Sequence[str], key: str) -> list[int]:
    """The indexes of the values of a setting: after its own argument, or after ``--conf`` with its name."""
    return [
        place
        for place, (name, word) in enumerate(pairwise(words), start=1)
        if name == _ARGUMENTS[key] or (name in _CONF and word.startswith(f"{key}="))
    ]


def _words() -> list[str]:
    """The words of ``PYSPARK_SUBMIT_ARGS``, with ``--jars=x`` as two of them."""
    joined = tuple(f"{name}=" for name in (*_ARGUMENTS.values(), *_CONF))
    words = shlex.split(os.environ.get(_VARIABLE, ""))
    return [part for word in words for part in (word.split("=", 1) if word.startswith(joined) else [word])]


def _default_setting(key: str) -> str | None:
    """The value in ``spark-defaults.conf``, which a setting of the builder overrides."""
    home = os.environ.get("SPARK_HOME")
    folder = os.environ.get("SPARK_CONF_DIR") or (f"{home}/conf" if home else None)
    file = Path(folder) / "spark-defaults.conf" if folder else None
    if file is None or not file.is_file():
        return None
    pairs = (line.replace("=", " ", 1).split(None, 1) for line in file.read_text(encoding="utf-8").splitlines())
    return next((pair[1].strip() for pair in pairs if len(pair) == 2 and pair[0] == key), None)
