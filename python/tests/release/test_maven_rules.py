from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fake_release import POM, make
from release import maven
from release.layout import Release

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def release(tmp_path: Path) -> Release:
    return make(tmp_path)


def test_a_complete_version_has_files_and_checksums(release: Release) -> None:
    assert list(maven.files_are_complete(release)) == []
    assert list(maven.checksums_match(release)) == []


def test_missing_and_additional_files_are_found(release: Release) -> None:
    release.javadoc.unlink()
    release.jar.with_name(release.jar.name + ".sha512").unlink()
    (release.maven / "notes.txt").touch()
    assert list(maven.files_are_complete(release)) == [
        "pulsar-spark-connector_2.13-1.2.3-javadoc.jar is missing",
        "pulsar-spark-connector_2.13-1.2.3.jar.sha512 is missing",
        "notes.txt is not to be published",
    ]


def test_a_version_without_a_folder_is_found(tmp_path: Path) -> None:
    assert len(list(maven.files_are_complete(Release(tmp_path, "1.2.3")))) == 20


@pytest.mark.parametrize("algorithm", maven.CHECKSUMS)
def test_a_wrong_checksum_is_found(release: Release, algorithm: str) -> None:
    release.sources.with_name(f"{release.sources.name}.{algorithm}").write_text("00")
    name = release.sources.name
    assert list(maven.checksums_match(release)) == [f"{name}.{algorithm} is not of {name}"]


def test_a_complete_pom_passes(release: Release) -> None:
    assert list(maven.pom_is_complete(release)) == []
    assert list(maven.pom_fetches_nothing(release)) == []


@pytest.mark.parametrize("path", maven.REQUIRED)
def test_a_missing_element_of_the_pom_is_found(release: Release, path: str) -> None:
    last = path.rpartition("/")[2]
    release.pom.write_text(POM.replace(f"<{last}>", "<other>").replace(f"</{last}>", "</other>"))
    assert f"the POM has no {path}" in list(maven.pom_is_complete(release))


def test_another_version_in_the_pom_is_found(release: Release) -> None:
    release.pom.write_text(POM.replace("1.2.3", "1.2.4"))
    assert list(maven.pom_is_complete(release)) == ["the POM's version is not 1.2.3"]


@pytest.mark.parametrize("name", maven.FETCHING)
def test_what_would_be_fetched_is_found(release: Release, name: str) -> None:
    release.pom.write_text(POM.replace("</project>", f"<{name}/></project>"))
    assert list(maven.pom_fetches_nothing(release)) == [f"the POM has {name}"]


@pytest.mark.parametrize("version", ["1.2.3", "0.10.0", "1.0.0rc1"])
def test_final_versions_pass(tmp_path: Path, version: str) -> None:
    assert list(maven.version_is_final(Release(tmp_path, version))) == []


@pytest.mark.parametrize("version", ["1.2.3-SNAPSHOT", "1.2.3.dev0", "1.2.3+local", "1.2"])
def test_other_versions_are_found(tmp_path: Path, version: str) -> None:
    assert list(maven.version_is_final(Release(tmp_path, version))) == [f"{version} is not a version to publish"]
