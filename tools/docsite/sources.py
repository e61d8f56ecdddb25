"""The folder that Sphinx reads: translated pages, pages of the Python reference, and the lists of groups."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

from docsite.api import FOLDER, api_pages
from docsite.groups import FRONT, GROUPS
from docsite.markdown import Translation
from docsite.names import ROOT, below, places, titles

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path


def forge() -> str:
    """The address of the repository, as the Python package has it."""
    project = (ROOT / "python" / "pyproject.toml").read_text(encoding="utf-8")
    address: str = re.findall(r'^Source = "(.*)"$', project, re.MULTILINE)[0]
    return address


def write_sources(folder: Path) -> None:
    """Write everything anew."""
    shutil.rmtree(folder, ignore_errors=True)
    at, names = places(), titles()
    for page, place in at.items():
        translation = Translation(page, at, forge())
        lists = _groups(at, names) if page == FRONT else _list("", below(page), at, names)
        _write(folder / f"{place}.md", "".join([translation.text(), *lists]))
        for picture, file in translation.pictures.items():
            (folder / picture).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, folder / picture)
    for place, text in api_pages().items():
        _write(folder / place, text)


def _groups(at: Mapping[str, str], names: Mapping[str, str]) -> Iterator[str]:
    for group, pages in GROUPS.items():
        more = [f"Python <{FOLDER}/index>"] if group == "Reference" else []
        yield from _list(f":caption: {group}\n", pages, at, names, more=more)


def _list(
    option: str,
    pages: Iterable[str],
    at: Mapping[str, str],
    names: Mapping[str, str],
    *,
    more: Iterable[str] = (),
) -> Iterator[str]:
    lines = [f"{names[page]} </{at[page]}>" for page in pages]
    if lines:
        yield "\n```{toctree}\n:hidden:\n" + option + "\n".join([*lines, *more]) + "\n```\n"


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
