"""Adds the built site to a folder with the sites of other versions, which a web server shows.

PYTHONPATH=tools:python python -m docsite.versions FOLDER

Each version has a folder of its name, built anew if it is there. ``versions.json`` lists them, the newest first; the
front page leads to the newest one.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.version import InvalidVersion, Version

from docsite.__main__ import HTML
from pulsar_spark._version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable

FRONT = """<!doctype html><title>pulsar-spark</title>
<meta http-equiv="refresh" content="0; url={0}/"><a href="{0}/">{0}</a>
"""


def add(built: Path, version: str, folder: Path) -> list[str]:
    """Copy a built site; returns all versions in the folder, the newest first."""
    if not (built / "index.html").is_file():
        raise FileNotFoundError(f"no site in {built}: `make site` builds it")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder / version, ignore_errors=True)
    shutil.copytree(built, folder / version)
    versions = _newest_first(each.name for each in folder.iterdir() if (each / "index.html").is_file())
    (folder / "versions.json").write_text(json.dumps(versions) + "\n", encoding="utf-8")
    released = [each for each in versions if not Version(each).is_prerelease]
    (folder / "index.html").write_text(FRONT.format((released or versions)[0]), encoding="utf-8")
    (folder / ".nojekyll").touch()  # a forge would leave out folders such as _static
    return versions


def _newest_first(names: Iterable[str]) -> list[str]:
    def version(name: str) -> Version | None:
        try:
            return Version(name)
        except InvalidVersion:
            return None

    known = ((parsed, name) for name in names if (parsed := version(name)) is not None)
    return [name for _, name in sorted(known, reverse=True)]


if __name__ == "__main__":
    print("\n".join(add(HTML, __version__, Path(sys.argv[1]))))
