"""The shape of the package: rooms in an order, no modules that need each other, short files, docstrings that name."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pulsar_spark

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(pulsar_spark.__file__).parent
# A room imports rooms before it only. Modules beside the rooms are rooms of one file.
ORDER = (
    *("_version", "_grid", "_tables", "_conversion", "errors", "_spark", "options"),
    *(
        "_jars",
        "_interrupts",
        "_launch",
        "jvm",
        "sessions",
        "functions",
        "triggers",
        "io",
        "_plan_views",
        "plans",
        "progress",
        "facade",
        "cluster",
    ),
    *("sinks", "local", "testing", "__init__", "demo", "cli"),
)
MOST_FILES, MOST_LINES = 17, 300
# First words that name neither what a thing is nor what it does, as in `LayoutSuite`.
OPENING = re.compile(
    r"(What|Whether|How|Why|When|Where|Which|Who|Whose|That|This|These|Those|The same|Same|They|Their|Its|It|Such|Both|"
    r"Of|As|By|In|For|From|To|On|At|With|Without|After|Before|Between|Behind|While|Since|Because|If|So|Than|Then|But|"
    r"And|Or|Not|Also|Only|Nobody|Somebody|Nothing|Some|Must|Has|Have|Is|Are|Was)\b"
)
# One table of fields each, and its methods.
LONG = {"options/__init__.py"}

FILES = sorted(path for path in ROOT.rglob("*.py") if "jars" not in path.parts)
MODULES = {".".join(path.relative_to(ROOT.parent).with_suffix("").parts): path for path in FILES}


def _imported(path: Path) -> Iterator[str]:
    """Modules of the package that a file imports, at the top or later; not those that only its types need."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            for alias in node.names:
                yield from _known(f"{node.module}.{alias.name}", node.module)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield from _known(alias.name)


def _known(*names: str) -> Iterator[str]:
    """The first of these that is a module or a package here."""
    for name in names:
        for module in (name, f"{name}.__init__"):
            if module in MODULES:
                yield module
                return


USES = {module: {used for used in _imported(path) if used != module} for module, path in MODULES.items()}


def _room(module: str) -> str:
    return module.split(".")[1]


def test_every_room_has_its_place_in_the_order() -> None:
    assert {_room(module) for module in MODULES} == set(ORDER)


def test_a_room_imports_rooms_before_it_only() -> None:
    against = {
        f"{_room(module)} -> {_room(used)}"
        for module, all_used in USES.items()
        for used in all_used
        if ORDER.index(_room(used)) > ORDER.index(_room(module))
    }
    assert against == set()


def test_no_modules_need_each_other() -> None:
    left = dict(USES)
    while free := [module for module, used in left.items() if not used & left.keys()]:
        for module in free:
            del left[module]
    assert not left, f"modules that need each other, and those that need them: {sorted(left)}"


def test_one_module_alone_calls_the_jvm() -> None:
    py4j = re.compile(r"\b(?:_jvm|_gateway|_jsparkSession|_jdf|_jc|_ensure_initialized|_active_spark_context|py4j\.)")
    found = {str(path.relative_to(ROOT)) for path in FILES if py4j.search(path.read_text(encoding="utf-8"))}
    assert found - {"local/server.py"} == {"jvm.py"}


def test_folders_and_files_are_small() -> None:
    files = Counter(path.parent for path in FILES)
    assert {folder.name for folder, count in files.items() if count > MOST_FILES} == set()
    lines = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8").count("\n") for path in FILES}
    assert {name for name, count in lines.items() if count > MOST_LINES} == LONG


def test_docstrings_open_with_a_noun_or_a_verb() -> None:
    """`True if` opens that of a condition."""
    refused = {
        f"{module}: {doc.splitlines()[0]}"
        for module, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        if (doc := ast.get_docstring(node)) and OPENING.match(doc)
    }
    assert refused == set()


def test_an_opening_that_names_nothing_is_found() -> None:
    assert OPENING.match("Whether it runs.")
    assert OPENING.match("The same as text.")
    assert not OPENING.match("The text.")
