"""The site of the pages: each page is in one group, links are translated, and those that lead nowhere are found."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from docsite import api, llms, markdown, names, versions
from docsite.links import broken
from docsite.pictures import difference
from docsite.tabs import with_tabs
from PIL import Image

ROOT = Path(__file__).resolve().parents[3]
FORGE = "https://forge.example/project"


def test_each_page_is_in_exactly_one_group() -> None:
    counts = Counter(page for pages in names.in_groups().values() for page in pages)
    in_docs = {str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md")}
    assert in_docs <= counts.keys()
    assert set(counts.values()) == {1}
    assert all((ROOT / page).is_file() for page in counts)


def test_each_page_has_a_place_of_its_own_in_the_folder_of_its_group() -> None:
    places = names.places()
    assert len(set(places.values())) == len(places)
    assert places["docs/use/options/topics.md"] == "reference/options/topics"
    assert places["docs/develop/decisions/README.md"] == "develop/decisions/index"
    assert {place.partition("/")[0] for place in places.values()} == {"index", *map(str.lower, names.in_groups())}


def test_titles_are_the_words_of_the_page_that_lists_all_pages() -> None:
    titles = names.titles()
    assert titles["docs/use/progress.md"] == "Progress"
    assert titles["docs/use/options/tls.md"] == "Options: TLS"


def test_links_and_pictures_lead_into_the_site_or_to_the_forge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = "docs/use/page.md"
    (tmp_path / "docs/use/pictures").mkdir(parents=True)
    (tmp_path / "examples").mkdir()
    code = '```python\nprint("[a](other.md)")\n```\n'
    (tmp_path / page).write_text(
        "[a](other.md#part) [b](../../README.md) [c](#here) [d](https://x.test) [e](../../examples) [f](../../f.py)\n"
        f'{code}![g](pictures/g.svg)\n```mermaid\na --> b\n```\n<picture>\n <source srcset="pictures/dark.svg">\n'
        ' <img alt="Words" src="pictures/light.svg">\n</picture>\n'
    )
    monkeypatch.setattr(markdown, "ROOT", tmp_path)
    places = {page: "read/page", "docs/use/other.md": "write/other", "README.md": "index"}
    translation = markdown.Translation(page, places, FORGE)
    text = translation.text()
    assert re.findall(r"\]\((.*?)\)", text.replace(code, "")) == [
        *("../write/other.md#part", "../index.md", "#here", "https://x.test"),
        *(f"{FORGE}/tree/main/examples", f"{FORGE}/blob/main/f.py", "../pictures/g.svg"),
    ]
    assert code in text
    assert "```{mermaid}\na --> b" in text
    assert re.findall(r"\{image\} (\S+)\n:alt: Words\n:class: (\S+)", text) == [
        ("../pictures/dark.svg", "only-dark"),
        ("../pictures/light.svg", "only-light"),
    ]
    assert set(translation.pictures) == {"pictures/g.svg", "pictures/dark.svg", "pictures/light.svg"}


def test_snippets_of_several_languages_are_tabs() -> None:
    python, scala, sql = (f"```{name}\n{name} 1\n```\n" for name in ("python", "scala", "sql"))
    both = f"````{{tab-set-code}}\n{python}{scala}````\n"
    assert with_tabs(f"a\n\n{python}\n{scala}\n{python}\nb\n") == f"a\n\n{both}\n{python}\nb\n"
    assert with_tabs(f"{python}\n{python}") == f"{python}\n{python}"
    assert with_tabs(f"{python}\n{scala}") == both
    assert with_tabs(f"{python}\nb\n\n{python}\n{scala}") == f"{python}\nb\n\n{both}"
    assert with_tabs(f"{python}\n{python}\nb\n\n{sql}") == f"{python}\n{python}\nb\n\n{sql}"
    assert with_tabs(f"{python}\nb\n\n{sql}") == f"{python}\nb\n\n{sql}"


def test_no_line_of_a_page_is_lost_in_the_site() -> None:
    places = names.places()
    for page in places:
        written = markdown.Translation(page, places, FORGE).text().splitlines()
        lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
        changed = re.compile(r"\]\(|^```mermaid|^</?picture>|^  <(source|img) ")
        kept = {line for line in lines if line and not changed.search(line)}
        assert kept <= set(written), page


def test_a_link_of_the_site_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<h1 id="one"></h1><a href="#one"></a><a href="b.html#two"></a><a href="c.html">')
    (tmp_path / "b.html").write_text('<a href="a.html#one"></a><img src="no.svg"><a href="https://x.example/no"></a>')
    assert list(broken(tmp_path)) == ["a.html: b.html#two", "a.html: c.html", "b.html: no.svg"]


def test_the_list_for_programs_has_all_pages_by_group() -> None:
    listed = llms.llms_txt()
    assert re.findall(r"^## (.*)$", listed, re.MULTILINE) == list(names.in_groups())
    assert listed.startswith("# pulsar-spark\n\n> Every [Apache Pulsar]")
    assert len(re.findall(r"^- \[.+\]\(_sources/.+\.md\): .+$", listed, re.MULTILINE)) == len(names.places()) - 1
    assert "# Options: TLS\n" in llms.llms_full_txt()


def test_the_python_reference_has_the_public_modules() -> None:
    first, *pages = api.api_pages().values()
    assert all(f"\n{module}\n" in first for module in api.MODULES)
    assert [re.findall(r"automodule:: (\S+)", page) for page in pages] == [[module] for module in api.MODULES]


def test_pictures_differ_by_what_an_eye_sees(tmp_path: Path) -> None:
    def picture(name: str, left: int, size: tuple[int, int] = (240, 240)) -> Path:
        image = Image.new("RGB", size, "white")
        image.paste("black", (left, 60, left + 60, 120))
        image.save(tmp_path / name)
        return tmp_path / name

    expected = picture("a.png", 60)
    assert difference(expected, expected) == 0
    assert difference(expected, picture("edge.png", 61)) == 0
    assert 0 < difference(expected, picture("moved.png", 84)) < 1
    assert difference(expected, picture("longer.png", 60, (240, 300))) == 1
    assert difference(tmp_path / "none.png", expected) == 1


def test_a_site_holds_each_version_in_its_folder_and_leads_to_the_newest(tmp_path: Path) -> None:
    built, folder = tmp_path / "html", tmp_path / "all"
    (built / "_static").mkdir(parents=True)
    (folder / "pictures").mkdir(parents=True)
    with pytest.raises(FileNotFoundError, match="make site"):
        versions.add(built, "0.9.0", folder)
    for version in ("0.10.0", "0.9.0", "1.0.0rc1", "0.9.0"):
        (built / "index.html").write_text(version)
        versions.add(built, version, folder)
    assert json.loads((folder / "versions.json").read_text()) == ["1.0.0rc1", "0.10.0", "0.9.0"]
    assert 'url=0.10.0/"' in (folder / "index.html").read_text()
    assert [(folder / each / "index.html").read_text() for each in ("0.9.0", "0.10.0")] == ["0.9.0", "0.10.0"]
    assert (folder / "0.10.0" / "_static").is_dir()
