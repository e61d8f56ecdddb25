"""Compares two builds of the same sources."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING
from zipfile import ZipFile, is_zipfile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_MOST = 5


def differences(one: Path, other: Path) -> Iterator[str]:
    """Each file below two folders that is in one only, or whose bytes differ, with the entries of archives that do."""
    names, others = _files(one), _files(other)
    for name in sorted(names | others):
        if name not in names or name not in others:
            yield f"{name} is in one build only"
        elif (one / name).read_bytes() != (other / name).read_bytes():
            yield f"{name} differs: {', '.join(islice(_entries(one / name, other / name), _MOST)) or 'its bytes'}"


def _files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def _entries(one: Path, other: Path) -> Iterator[str]:
    """The entries that differ, by content or by what the archive says of them; their order when all are alike."""
    if not (is_zipfile(one) and is_zipfile(other)):
        return
    with ZipFile(one) as first, ZipFile(other) as second:
        ours, theirs = first.infolist(), second.infolist()
        if [entry.filename for entry in ours] != [entry.filename for entry in theirs]:
            apart = {entry.filename for entry in ours} ^ {entry.filename for entry in theirs}
            yield from sorted(apart) or ["the order of entries"]
            return
        for our, their in zip(ours, theirs, strict=True):
            if first.read(our) != second.read(their):
                yield our.filename
            elif (our.date_time, our.external_attr, our.extra) != (their.date_time, their.external_attr, their.extra):
                yield f"{our.filename} (time or mode)"
