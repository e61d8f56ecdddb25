from __future__ import annotations

from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest
from fake_release import CLASS, JAR, JAVADOC, LEGAL, SOURCES, make, write_zip
from release import jars
from release.libraries import bundled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from release.layout import Release

RULES = [
    jars.jar_has_our_roots_only,
    jars.jars_have_no_duplicates,
    jars.jars_have_licence_and_notice,
    jars.libraries_are_final,
    jars.classes_are_of_java_17,
    jars.sources_are_there,
    jars.documentation_is_there,
]


@pytest.fixture
def release(tmp_path: Path) -> Release:
    return make(tmp_path)


@pytest.mark.parametrize("rule", RULES)
def test_proper_jars_pass(release: Release, rule: Callable[[Release], Iterator[str]]) -> None:
    assert list(rule(release)) == []


@pytest.mark.parametrize(
    "name",
    [
        "META-INF/LICENSE_avro-1.12.0",
        "META-INF/services/io.github.pulsarspark.shaded.Service",
        "META-INF/native/libio_github_pulsarspark_shaded_netty_tcnative_linux_x86_64.so",
        "com/scurrilous/circe/crc/Sse42Crc32C.class",
    ],
)
def test_known_exceptions_are_allowed_in_the_jar(release: Release, name: str) -> None:
    write_zip(release.jar, {**JAR, name: b""})
    assert list(jars.jar_has_our_roots_only(release)) == []


@pytest.mark.parametrize(
    "name", ["org/apache/avro/Schema.class", "reference.conf", "META-INF/maven/pom.xml", "META-INF/services/java.Any"]
)
def test_a_file_outside_our_packages_is_found(release: Release, name: str) -> None:
    write_zip(release.jar, {**JAR, name: b""})
    assert list(jars.jar_has_our_roots_only(release)) == [f"{name} is outside our packages"]


def test_a_second_entry_of_one_name_is_found(release: Release) -> None:
    with ZipFile(release.sources, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("META-INF/NOTICE", "again")
    assert list(jars.jars_have_no_duplicates(release)) == [f"{release.sources.name} has META-INF/NOTICE 2 times"]


def test_missing_and_empty_legal_texts_are_found(release: Release) -> None:
    write_zip(release.sources, {**SOURCES, "META-INF/LICENSE": b""})
    write_zip(release.javadoc, {name: content for name, content in JAVADOC.items() if name not in LEGAL})
    assert list(jars.jars_have_licence_and_notice(release)) == [
        f"{release.sources.name} has no META-INF/LICENSE",
        f"{release.javadoc.name} has no META-INF/LICENSE",
        f"{release.javadoc.name} has no META-INF/NOTICE",
    ]


def test_a_missing_list_of_libraries_is_found(release: Release) -> None:
    write_zip(release.jar, {**JAR, "META-INF/license/THIRD-PARTY.txt": "# nothing\n"})
    (finding,) = jars.jars_have_licence_and_notice(release)
    assert finding.endswith("has no library in META-INF/license/THIRD-PARTY.txt")


def test_a_snapshot_in_the_jar_is_found(release: Release) -> None:
    line = f"org.example:three:1.0-SNAPSHOT | MIT | {'c' * 64}\n"
    write_zip(release.jar, {**JAR, "META-INF/license/THIRD-PARTY.txt": line})
    assert list(jars.libraries_are_final(release)) == ["org.example:three:1.0-SNAPSHOT is a snapshot"]


def test_the_list_of_libraries_is_parsed(release: Release) -> None:
    one, two = bundled(release.jar)
    assert (one.coordinate, one.licence, one.sha256) == ("org.example:one:1.0", "Apache-2.0", "a" * 64)
    assert (two.coordinate, two.classifier) == ("org.example:two:2.0:linux-x86_64", "linux-x86_64")


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("io/github/pulsarspark/New.class", 65),
        ("io/github/pulsarspark/Old.class", 52),
        ("io/github/pulsarspark/shaded/New.class", 65),
    ],
)
def test_a_class_of_another_java_is_found(release: Release, name: str, version: int) -> None:
    write_zip(release.jar, {**JAR, name: CLASS[:-1] + bytes([version])})
    assert list(jars.classes_are_of_java_17(release)) == [f"{name} has class file version {version}"]


def test_sources_without_generated_ones_are_found(release: Release) -> None:
    kept = {name: content for name, content in SOURCES.items() if "Conditions" not in name}
    write_zip(release.sources, {**kept, "io/github/pulsarspark/A.class": CLASS})
    assert list(jars.sources_are_there(release)) == [
        "no io/github/pulsarspark/errors/Conditions.scala in the sources",
        "io/github/pulsarspark/A.class is in the sources",
    ]


def test_an_empty_sources_jar_is_found(release: Release) -> None:
    write_zip(release.sources, LEGAL)
    assert len(list(jars.sources_are_there(release))) == 4


def test_an_empty_documentation_jar_is_found(release: Release) -> None:
    write_zip(release.javadoc, LEGAL)
    assert len(list(jars.documentation_is_there(release))) == 3
