"""Fetching by Maven coordinate, against a registry made of files."""

from __future__ import annotations

import hashlib
import importlib.util
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pulsar_spark.local import maven
from pulsar_spark.local.maven import Coordinate, FetchError, fetch, fetch_all, ivy
from pulsar_spark.local.maven.__main__ import main

if TYPE_CHECKING:
    from collections.abc import Sequence

CONTENT = b"not really an archive"
SUM = hashlib.sha256(CONTENT).hexdigest()
THING = "org.example.tools:thing:1.0:bin@tar.gz"


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "registry"
    folder = root / "org" / "example" / "tools" / "thing" / "1.0"
    folder.mkdir(parents=True)
    (folder / "thing-1.0-bin.tar.gz").write_bytes(CONTENT)
    monkeypatch.setenv(maven.MIRROR_VARIABLE, root.as_uri())
    monkeypatch.setenv(maven.CACHE_VARIABLE, str(tmp_path / "cache"))
    return root


@pytest.mark.parametrize(
    ("text", "file_name"),
    [
        ("g.h:a-b:1.0", "a-b-1.0.jar"),
        ("g:a:1.0@tar.gz", "a-1.0.tar.gz"),
        ("g:a:1.0:bin", "a-1.0-bin.jar"),
        ("g:a_2.13:1.0-M1+x:bin@tar.gz", "a_2.13-1.0-M1+x-bin.tar.gz"),
    ],
)
def test_coordinate_names_a_file(text: str, file_name: str) -> None:
    assert Coordinate.parse(text).file_name == file_name


@pytest.mark.parametrize("text", ["", "g", "g:a", "g:a:", "g:a:1:b:c", "g:a:1@", "g:a:1 ", "g/x:a:1", '"g":a:1'])
def test_malformed_coordinate_is_shown(text: str) -> None:
    with pytest.raises(FetchError, match="is not a Maven coordinate: expected group:artifact:version"):
        Coordinate.parse(text)


def test_cache_keeps_the_layout_of_a_maven_repository() -> None:
    assert Coordinate.parse(THING).path_in(Path("c")) == Path(
        "c/maven/org/example/tools/thing/1.0/thing-1.0-bin.tar.gz"
    )


def test_cache_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(maven.CACHE_VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert maven.cache_folder() == Path("/x/pulsar-spark")
    monkeypatch.setenv(maven.CACHE_VARIABLE, "/chosen")
    assert maven.cache_folder() == Path("/chosen")


@pytest.mark.usefixtures("registry")
def test_second_call_starts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    first = fetch(THING, sha256=SUM)
    assert first.read_bytes() == CONTENT
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    assert fetch(THING, sha256=SUM.upper()) == first


@pytest.mark.usefixtures("registry")
def test_wrong_checksum_shows_both_and_keeps_nothing(tmp_path: Path) -> None:
    wrong = "0" * 64
    with pytest.raises(FetchError, match=f"is {SUM}, expected {wrong}"):
        fetch(THING, sha256=wrong)
    assert not list((tmp_path / "cache").rglob("*.tar.gz"))
    kept = fetch(THING, sha256=None)
    with pytest.raises(FetchError, match=f"is {SUM}, expected {wrong}. Delete {kept} to fetch it again"):
        fetch(THING, sha256=wrong)


@pytest.mark.usefixtures("registry")
def test_a_missing_artifact_is_reported_with_its_address() -> None:
    with pytest.raises(FetchError, match=r"has no org.example.tools:thing:2.0@jar \(tried file:.*thing-2.0.jar\)"):
        fetch("org.example.tools:thing:2.0", sha256=None)


@pytest.mark.usefixtures("registry")
def test_an_unreachable_registry_is_distinguished_from_a_missing_artifact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(maven.MIRROR_VARIABLE, "http://127.0.0.1:1/")
    with pytest.raises(FetchError, match=r"could not be reached .*[Cc]onnection refused.*Check the network"):
        fetch(THING, sha256=None)


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize(("home", "text"), [("/nowhere", "JAVA_HOME is /nowhere but"), ("", "PATH has no java")])
def test_no_java(home: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", home)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(FetchError, match=text):
        fetch(THING, sha256=None)


@pytest.mark.usefixtures("registry")
def test_a_timeout_is_an_error() -> None:
    with pytest.raises(FetchError, match="not downloaded in time"):
        fetch(THING, sha256=None, timeout_seconds=0)


@pytest.mark.usefixtures("registry")
def test_waiting_for_another_process_has_a_deadline(tmp_path: Path) -> None:
    lock = Coordinate.parse(THING).path_in(tmp_path / "cache")
    lock.parent.mkdir(parents=True)
    program = (
        f"import fcntl; f = open({str(lock) + '.lock'!r}, 'w'); fcntl.flock(f, 2); print('held', flush=True); input()"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(FetchError, match="Another process has held"):
            fetch(THING, sha256=None, timeout_seconds=0.2)
        other.communicate(b"\n")
    assert fetch(THING, sha256=SUM).read_bytes() == CONTENT


@pytest.mark.usefixtures("registry")
def test_several_at_once_download_once(monkeypatch: pytest.MonkeyPatch) -> None:
    downloads: list[Coordinate] = []
    real = ivy.run

    def counted(wanted: Sequence[Coordinate], work: Path, deadline: float) -> None:
        downloads.extend(wanted)
        real(wanted, work, deadline)

    monkeypatch.setattr(ivy, "run", counted)
    found: list[Path] = []
    threads = [threading.Thread(target=lambda: found.append(fetch(THING, sha256=SUM))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(downloads) == 1
    assert [path.read_bytes() for path in found] == [CONTENT] * 3


SEVERAL = ("org.example:a:1.0", "org.example:a:1.0:linux", "org.example:b:2.0", "com.example:b:2.0")


@pytest.fixture
def several(registry: Path) -> dict[str, str]:
    """Jars of the registry that differ in their group or classifier only, and their checksums."""
    checksums = {}
    for text in SEVERAL:
        coordinate = Coordinate.parse(text)
        file = registry.joinpath(*coordinate.group.split("."), coordinate.artifact, coordinate.version)
        file.mkdir(parents=True, exist_ok=True)
        (file / coordinate.file_name).write_bytes(text.encode())
        checksums[text] = hashlib.sha256(text.encode()).hexdigest()
    return checksums


def test_several_files_are_downloaded_at_once(several: dict[str, str], tmp_path: Path) -> None:
    fetch_all(several, tmp_path / "lib")
    found = {file.name: file.read_text() for file in (tmp_path / "lib").iterdir()}
    assert found == {
        "org.example-a-1.0.jar": SEVERAL[0],
        "org.example-a-1.0-linux.jar": SEVERAL[1],
        "org.example-b-2.0.jar": SEVERAL[2],
        "com.example-b-2.0.jar": SEVERAL[3],
    }


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({SEVERAL[2]: "0" * 64}, r"The checksum of org\.example:b:2\.0@jar is .*, expected 000"),
        ({"org.example:c:1.0": "0" * 64}, r"The Maven registry has no org\.example:c:1\.0@jar"),
    ],
)
def test_all_files_are_downloaded_or_none(
    several: dict[str, str], tmp_path: Path, wrong: dict[str, str], error: str
) -> None:
    with pytest.raises(FetchError, match=error):
        fetch_all({**several, **wrong}, tmp_path / "lib")
    assert not (tmp_path / "lib").exists()


@pytest.mark.usefixtures("registry")
def test_command_prints_the_path_or_one_line_of_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([THING, "--sha256", SUM]) == 0
    assert Path(capsys.readouterr().out.strip()).read_bytes() == CONTENT
    assert main(["nonsense"]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("error: 'nonsense' is not a Maven coordinate")


def test_the_ivy_jar_is_that_of_pyspark_or_of_spark_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = ivy.ivy_jar()
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    monkeypatch.delenv("SPARK_HOME", raising=False)
    with pytest.raises(FetchError, match=r"No pyspark .* no SPARK_HOME.*pip install 'pulsar-spark\[spark\]'"):
        ivy.ivy_jar()
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    with pytest.raises(FetchError, match=r"has no jars/ivy"):
        ivy.ivy_jar()
    monkeypatch.setenv("SPARK_HOME", str(real.parent.parent))
    assert ivy.ivy_jar() == real
