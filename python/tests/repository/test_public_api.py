"""The classes that the build compares with earlier releases are those that the page promises."""

from __future__ import annotations

import re
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[3]
_CLIENT = "shaded.org.apache.pulsar.client.api."


def test_the_page_has_the_classes_that_the_build_compares() -> None:
    build = (_ROOT / "project/PublicApi.scala").read_text(encoding="utf-8")
    compared = {
        f"{_CLIENT if place == 'client' else ''}{name}"
        for place, name in re.findall(r'^    s"\$(root|client)\.([\w.]+)"', build, re.MULTILINE)
    }
    page = (_ROOT / "docs/use/compatibility.md").read_text(encoding="utf-8")
    table = page.partition("\n## Classes\n")[2].partition("\n\nAll other")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    promised = {
        f"{_CLIENT if _CLIENT[:-1] in row else ''}{name}"
        for row in rows
        for name in re.findall(r"`([\w.]+)`", row)
        if name != _CLIENT[:-1]
    }
    assert compared
    assert promised == compared
