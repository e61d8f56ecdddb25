"""What pages promise of guarantees, and say of rights, is what the options and the errors say."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[3]
RESOURCES = ROOT / "connector/src/main/resources/io/github/pulsarspark"
USE = ROOT / "docs/use"
PAGES = [ROOT / "README.md", *sorted(USE.glob("*.md"))]


def resource(name: str) -> Any:  # noqa: ANN401 - JSON
    return json.loads((RESOURCES / name).read_text(encoding="utf-8"))


OPTIONS = {one["key"]: one for one in resource("options.json")["options"]}
CONDITIONS = resource("error-conditions.json")
GUARANTEE = OPTIONS["deliveryGuarantee"]
CODE = re.compile(r"`([^`]+)`")


def words(value: str) -> str:
    return value.replace("-", " ").lower()


def blocks(text: str) -> Iterator[str]:
    """Paragraphs, items of lists and rows of tables."""
    for block in re.split(r"\n\n|\n(?=[-|>] ?)", text):
        yield words(block)


def halves(text: str) -> list[str]:
    """The blocks that name the guarantee of writes that is the default, and not all of them."""
    named = words(GUARANTEE["default"])
    others = [words(value) for value in GUARANTEE["values"]]
    return [block for block in blocks(text) if named in block and not all(other in block for other in others)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.name))
def test_who_names_one_guarantee_names_the_other(page: Path) -> None:
    assert halves(page.read_text(encoding="utf-8")) == []


def test_half_a_promise_is_found() -> None:
    text = "Exactly once is an option.\n\nAt-least-once writes.\n| at least once | exactly once |\n| at least once |"
    assert halves(text) == ["at least once writes.", "| at least once |"]


def test_the_default_is_the_one_that_pages_name() -> None:
    for page in ("writing.md", "streaming.md", "tables.md"):
        assert f"{words(GUARANTEE['default'])} by default" in (USE / page).read_text(encoding="utf-8"), page


def rights() -> list[list[str]]:
    """Feature, rights, and what happens without them."""
    section = (USE / "operators.md").read_text(encoding="utf-8").partition("## Which rights does a job need?")[2]
    table = section.partition("\nBrokers check")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line[:2] == "| "]
    return rows[1:]


def test_the_rights_of_transactions_are_those_that_the_error_names() -> None:
    (row,) = [row for row in rights() if f"`deliveryGuarantee={GUARANTEE['values'][1]}`" in row[0]]
    action = CONDITIONS["PULSAR_TRANSACTIONS_UNAVAILABLE"]["action"]
    writing = (USE / "writing.md").read_text(encoding="utf-8")
    for right in ("produce", "consume", "pulsar/system"):
        assert right in action
        assert f"`{right}`" in row[1]
        assert f"`{right}`" in writing.partition("\n## Exactly once\n")[2].partition("```")[0]


def test_a_row_of_rights_names_what_exists() -> None:
    for feature, _, without in rights():
        for name in (code.partition("=")[0] for code in CODE.findall(feature)):
            assert name in OPTIONS or name in ("from_pulsar", "to_pulsar"), name
        for condition in re.findall(r"`(PULSAR_[A-Z_]+)`", without):
            assert condition in CONDITIONS, condition
