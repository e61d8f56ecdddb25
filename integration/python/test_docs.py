"""Every snippet in Python and SQL of the pages for users runs, page by page, in order, against a real Pulsar.

A block of text directly below a snippet is what it prints. Pages name topics as users do, without a namespace, so all
of them share the default one: the topics of a page end with it, and no pattern or list of another page finds them.
"""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from support.servers.admin import AdminError
from support.spark.catalogs import Catalog
from support.spark.settings import hadoop_settings, stores_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pyspark.sql import SparkSession

    from support.servers.admin import Admin
    from support.servers.servers import Addresses

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OUTPUT = re.compile(r"\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMESPACE = "public/default"


def snippets(page: str) -> list[tuple[int, str, str | None]]:
    """Snippets, as Python, with the number of their first line, and with what they print where the page shows it."""
    text = (ROOT / page).read_text(encoding="utf-8")

    def output(end: int) -> str | None:
        shown = OUTPUT.match(text, end)
        return shown[1] if shown else None

    return [
        (text[: fence.start()].count("\n") + 2, IN_PYTHON[fence[1]](fence[2]), output(fence.end()))
        for fence in FENCE.finditer(text)
        if fence[1] in IN_PYTHON
    ]


def statements(sql: str) -> str:
    """Code that runs the statements, which end with the line."""
    return "".join(
        f"spark.sql({statement!r}).collect()\n" for statement in re.split(r";$", sql, flags=re.MULTILINE)[:-1]
    )


IN_PYTHON: Mapping[str, Callable[[str], str]] = {"python": str, "sql": statements}


PAGES = [
    page
    for page in ("README.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")))
    if snippets(page)
]


def topics(page: str, admin: Admin) -> set[str]:
    """Topics of the default namespace that the page names; tests that run beside this one have others there."""
    text = (ROOT / page).read_text(encoding="utf-8")
    listed = {topic.rpartition("-partition-")[0] or topic for topic in admin.topics(NAMESPACE)}
    return {topic for topic in listed if re.search(rf"(?<![\w-]){re.escape(topic.rpartition('/')[2])}(?![\w-])", text)}


@pytest.fixture
def topics_end(page: str, spark: SparkSession, pulsar: Addresses, admin: Admin) -> Iterator[None]:
    """Deletes the topics of the page, but not those that a server of the user had before."""
    before = topics(page, admin)
    yield
    for query in spark.streams.active:
        query.stop()
    catalog = Catalog.that_drops(spark, pulsar)
    for topic in topics(page, admin) - before:
        for subscription in admin.subscriptions(topic):
            with suppress(AdminError):  # that of a reader which is being closed
                admin.delete_subscription(topic, subscription)
        catalog.drop(topic)
    assert topics(page, admin) == before, "A topic of the page is back: something still uses it."


@pytest.mark.usefixtures("topics_end")
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
    # Spark keeps a catalog as the first page has made it, and some pages change topics.
    spark.conf.set("spark.sql.catalog.pulsar.admin.url", pulsar.admin_url)
    # the page that needs them sets them before Spark starts
    with hadoop_settings(spark, stores_of(pulsar)):
        _run(page, places, names)


def _run(page: str, places: dict[str, str], names: dict[str, Any]) -> None:
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
        "checkpoints-on-pulsar",
        "copying",
        "data-loss",
        "from-databricks",
        "from-kafka",
        "from-pulsar-sql",
        "platforms",
    }
    assert {"README.md", *(f"docs/use/{page}.md" for page in shown)} <= set(PAGES)
