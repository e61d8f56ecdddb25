"""Links of the pages lead somewhere, and the pages for developers name files that exist."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[3]
PAGES = [
    *(
        ROOT / name
        for name in (
            "README.md",
            "CONTRIBUTING.md",
            "SECURITY.md",
            "CHANGELOG.md",
            "benchmarks/README.md",
            "benchmarks/lab-book.md",
        )
    ),
    *sorted((ROOT / "docs").rglob("*.md")),
]
DEVELOP = [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs/develop").rglob("*.md"))]

FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"")
LIST = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]

HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
CODE = re.compile(r"`([^`]+)`")
FILE = re.compile(r"[\w./-]*\w\.(?:scala|java|py|json)")


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@cache
def prose(page: Path) -> str:
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> Iterator[str]:
    """The anchors of headings, as forges make them."""
    seen: dict[str, int] = {}
    for title in HEADING.findall(prose(page)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        seen[anchor] = seen.get(anchor, -1) + 1
        yield f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor


def broken(page: Path) -> Iterator[str]:
    for link in (one or other for one, other in LINK.findall(prose(page))):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = unquote(link).partition("#")
        target = page.parent / path if path else page
        if not target.exists():
            yield f"{link}: no such file"
        elif anchor and anchor not in anchors(target):
            yield f"{link}: no such heading"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    assert list(broken(page)) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One `two`\n[a](#one-two) [b](#three) [c](page.md#one-two) [d](gone.md) [e](https://example.com)\n"
    )
    assert list(broken(page)) == ["#three: no such heading", "gone.md: no such file"]


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, pending = set[Path](), [ROOT / "README.md"]
    while pending:
        page = pending.pop().resolve()
        if page.suffix == ".md" and page not in reached:
            reached.add(page)
            links = (one or other for one, other in LINK.findall(prose(page)))
            pending += [page.parent / link.partition("#")[0] for link in links if not re.match(r"[a-z]+:|#", link)]
    assert set(PAGES) <= reached


@pytest.mark.parametrize("page", DEVELOP, ids=name)
def test_named_files_exist(page: Path) -> None:
    listed = subprocess.run(LIST, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [f"/{path}" for path in listed.splitlines()]
    for code in CODE.findall(prose(page)):
        for file in FILE.findall(code) if code.endswith((".scala", ".java", ".py")) else ():
            assert any(path.endswith(f"/{file}") for path in paths), f"{name(page)} names {file}"


MAIN = ROOT / "connector/src/main/scala/io/github/pulsarspark"


def rows(page: Path, begin: str, end: str) -> Iterator[list[str]]:
    """The cells of a table behind its heading."""
    lines = prose(page).partition(begin)[2].partition(end)[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    assert len(cells) > 1, begin
    yield from cells[1:]


def test_the_tour_passes_methods_that_exist() -> None:
    for file, method, _ in rows(ROOT / "CONTRIBUTING.md", "Five minutes with one read", "Three more places"):
        source = (MAIN / file.strip("`")).read_text(encoding="utf-8")
        assert re.search(rf"\bdef {method.strip('`')}\b", source), file


def test_the_overview_lists_folders_that_exist() -> None:
    for first, text in rows(ROOT / "docs/develop/overview.md", "## Folders, in their order", "## Python"):
        tops = CODE.findall(first)
        folders = [name for name in CODE.findall(text) if re.fullmatch(r"[a-z]+(/[a-z]+)*", name)]
        for name in (*tops, *folders):
            assert any((MAIN / place / name).is_dir() for place in ("", *tops)), name


DECISIONS = ROOT / "docs" / "develop" / "decisions"
# First lines of the parts of a decision.
PARTS = ["# ", "*Status: ", "**Context.** ", "**Decision.** ", "**Why.** ", "**Consequences.** "]


def test_each_decision_has_one_place_in_the_index_by_its_title() -> None:
    titles = {page.name: page.read_text(encoding="utf-8").splitlines()[0] for page in DECISIONS.glob("[0-9]*.md")}
    index = re.findall(
        r"^- \[(\d{3}: .*)\]\((.*)\)$", (DECISIONS / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert sorted((name, f"# {title}") for title, name in index) == sorted(titles.items())


@pytest.mark.parametrize("page", sorted(DECISIONS.glob("[0-9]*.md")), ids=name)
def test_a_decision_has_its_parts_in_their_order_in_250_words(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"^(# |\*Status: |\*\*[A-Z][^.*]*\.\*\* )", text, re.MULTILINE) == PARTS
    assert len(text.split()) <= 250
