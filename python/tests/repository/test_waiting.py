"""Integration tests wait for what happens in the background, and long enough for a machine that is busy.

Clients leave a broker a moment after their query ends; a busy machine takes many times as long for everything.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

INTEGRATION = Path(__file__).resolve().parents[3] / "integration"
FILES = sorted(INTEGRATION.rglob("*.py"))
# What a broker has of its clients: a method of the tests' clients, and keys of the statistics.
CALLS = {"subscriptions"}
KEYS = {"consumers", "publishers", "subscriptions"}
CHECKS = ("test_", "check_", "assert_")
# What waits, and the least number of seconds where it is not the limit that every wait has.
WAITS, LEAST = {"eventually", "becomes"}, 180


def looks(node: ast.AST) -> bool:
    """Whether an expression looks at the clients of a broker."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr in CALLS
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant) and node.slice.value in KEYS and "stats(" in ast.unparse(node.value)
    return False


def done_at_once(node: ast.AST) -> Iterator[ast.AST]:
    """What runs with a function itself: not its lambdas and inner functions, which a helper calls again and again."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.Lambda, ast.FunctionDef)):
            yield child
            yield from done_at_once(child)


def single_looks(source: str) -> list[int]:
    """Lines of tests and checks that look once at the clients of a broker."""
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    checks = [function for function in functions if function.name.startswith(CHECKS)]
    return sorted({node.lineno for check in checks for node in done_at_once(check) if looks(node)})  # type: ignore[attr-defined]


def short_waits(source: str) -> list[int]:
    """Lines that wait for a number of seconds which a busy machine may need."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    limits = [
        keyword.value
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id in WAITS
        for keyword in call.keywords
        if keyword.arg == "seconds"
    ]
    numbers = [limit for limit in limits if isinstance(limit, ast.Constant) and isinstance(limit.value, (int, float))]
    return [number.lineno for number in numbers if number.value < LEAST]  # type: ignore[operator]


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(INTEGRATION)))
def test_clients_of_a_broker_are_looked_at_until_they_are_as_expected(file: Path) -> None:
    source = file.read_text(encoding="utf-8")
    assert single_looks(source) == [], "wait by `becomes` or `eventually` of support/spark/waiting.py"
    assert short_waits(source) == [], "leave `seconds` out"


def test_a_short_wait_is_found() -> None:
    source = (
        "eventually(look)\neventually(look, seconds=30)\nbecomes(look, 1, seconds=600)\nbecomes(look, 1, seconds=60.0)"
    )
    assert short_waits(source) == [2, 4]


def test_readers_of_tests_survive_an_unload() -> None:
    asking = [file for file in FILES if ".has_message_available()" in file.read_text(encoding="utf-8")]
    assert [file.name for file in asking] == ["remaining.py"], "read by `remaining` of support/topics/remaining.py"


def test_a_single_look_is_found() -> None:
    source = """
def test_a():
    assert admin.subscriptions(topic) == []
    found = admin.stats(topic)["subscriptions"]
    becomes(lambda: admin.subscriptions(topic), [])
    def look():
        return admin.stats(topic)["publishers"]
    assert options["subscriptions"]
def helper():
    return admin.subscriptions(topic)
"""
    assert single_looks(source) == [3, 4]
