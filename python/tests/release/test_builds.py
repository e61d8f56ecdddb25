from __future__ import annotations

import re
import subprocess
from pathlib import Path
from zipfile import ZipFile, ZipInfo

import pytest
from release.build import commit_time, copy_sources
from release.rules import RULES, title
from release.same import differences

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        (folder / "maven").mkdir(parents=True)
        (folder / "maven" / "a.pom").write_text("pom")
        with ZipFile(folder / "a.jar", "w") as archive:
            for name in ("a", "b"):
                archive.writestr(ZipInfo(name, (2026, 1, 1, 0, 0, 0)), name)
    return one, other


def test_equal_builds_have_no_differences(folders: tuple[Path, Path]) -> None:
    assert list(differences(*folders)) == []


def test_files_that_differ_are_found(folders: tuple[Path, Path]) -> None:
    one, other = folders
    (one / "maven" / "a.pom").write_text("another")
    (one / "only").touch()
    assert list(differences(one, other)) == ["maven/a.pom differs: its bytes", "only is in one build only"]


@pytest.mark.parametrize(
    ("entries", "finding"),
    [
        ([("a", "a", 2026), ("b", "c", 2026)], "b"),
        ([("a", "a", 2026), ("b", "b", 2027)], "b (time or mode)"),
        ([("b", "b", 2026), ("a", "a", 2026)], "the order of entries"),
        ([("a", "a", 2026), ("c", "c", 2026)], "b, c"),
    ],
)
def test_entries_that_differ_are_found(
    folders: tuple[Path, Path], entries: list[tuple[str, str, int]], finding: str
) -> None:
    with ZipFile(folders[1] / "a.jar", "w") as archive:
        for name, content, year in entries:
            archive.writestr(ZipInfo(name, (year, 1, 1, 0, 0, 0)), content)
    assert list(differences(*folders)) == [f"a.jar differs: {finding}"]


def test_the_copy_has_what_git_knows_of(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    (source / "folder").mkdir(parents=True)
    (source / "folder" / "known").write_text("known")
    (source / "unknown").touch()
    for command in (["init", "-q"], ["add", "folder"]):
        subprocess.run(["git", *command], cwd=source, check=True)
    copy_sources(source, target)
    assert sorted(path.name for path in target.iterdir()) == [".venv", "folder"]
    assert (target / "folder" / "known").read_text() == "known"


def test_archives_carry_the_time_of_the_commit() -> None:
    assert re.fullmatch(r"\d{10}", commit_time(ROOT))


def test_the_page_lists_the_rules_in_their_order() -> None:
    page = (ROOT / "docs/develop/releasing.md").read_text(encoding="utf-8")
    assert re.findall(r"^- (.+)$", page.partition("## Rules")[2].partition("\n## ")[0], re.MULTILINE) == [
        title(rule) for rule in RULES
    ]


@pytest.mark.parametrize("name", ["LICENSE", "NOTICE"])
def test_the_python_package_has_the_legal_texts_of_the_project(name: str) -> None:
    assert (ROOT / "python" / name).read_bytes() == (ROOT / name).read_bytes()
