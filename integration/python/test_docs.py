"""Every Python snippet of the pages for users runs, page by page, in order, against a real Pulsar.

A block of text directly below a snippet is what it prints.
"""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from support.servers.servers import Addresses

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OUTPUT = re.compile(r"\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def snippets(page: str) -> list[tuple[int, str, str | None]]:
    """Python snippets with the number of their first line, and with what they print where the page shows it."""
    text = (ROOT / page).read_text(encoding="utf-8")

    def output(end: int) -> str | None:
        shown = OUTPUT.match(text, end)
        return shown[1] if shown else None

    return [
        (text[: fence.start()].count("\n") + 2, fence[2], output(fence.end()))
        for fence in FENCE.finditer(text)
        if fence[1] == "python"
    ]


PAGES = [
    page
    for page in ("README.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")))
    if snippets(page)
]


@pytest.mark.parametrize("page", PAGES)
def test_the_snippets_run(
    page: str, spark: SparkSession, pulsar: Addresses, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert spark.version
    monkeypatch.setenv("PULSAR_SERVICE_URL", pulsar.service_url)
    places = {
        "pulsar://localhost:6650": pulsar.service_url,
        "http://localhost:8080": pulsar.admin_url,
        "/tmp/pulsar-spark": str(tmp_path),
    }
    names: dict[str, Any] = {}
    for line, code, output in snippets(page):
        for written, here in places.items():
            code = code.replace(written, here)
        with redirect_stdout(io.StringIO()) as printed:
            # Errors name the page and the line.
            exec(compile("\n" * (line - 1) + code, page, "exec"), names)
        seen = printed.getvalue()
        for written, here in places.items():
            seen = seen.replace(here, written)
        # Spark's `show` ends with an empty line.
        assert output is None or output.rstrip("\n") == seen.rstrip("\n"), f"{page}, line {line}"


def test_the_pages_that_show_how_to_use_it_have_snippets() -> None:
    shown = {
        "reading",
        "offsets",
        "filters",
        "streaming",
        "real-time",
        "writing",
        "tables",
        "functions",
        "direct-reads",
        "quickstart",
        "install",
        "cluster",
        "copying",
        "data-loss",
        "from-databricks",
        "from-kafka",
        "from-pulsar-sql",
        "platforms",
    }
    assert {"README.md", *(f"docs/use/{page}.md" for page in shown)} <= set(PAGES)
