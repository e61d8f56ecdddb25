from __future__ import annotations

from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest
from fake_release import JAR, METADATA, POM, make, write_distributions, write_zip
from release import distributions, hosts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from release.layout import Release

RULES = [
    distributions.wheel_metadata_is_complete,
    distributions.wheel_record_matches,
    distributions.distributions_have_licence_and_notice,
    distributions.distributions_have_the_jar,
    distributions.twine_accepts,
    hosts.no_registry_is_named,
]


@pytest.fixture
def release(tmp_path: Path) -> Release:
    return make(tmp_path)


@pytest.mark.parametrize("rule", RULES)
def test_proper_distributions_pass(release: Release, rule: Callable[[Release], Iterator[str]]) -> None:
    assert list(rule(release)) == []


@pytest.mark.parametrize(
    ("line", "finding"),
    [
        *((f"{field}: ", f"the wheel has no {field}") for field in distributions.FIELDS),
        *((f"Project-URL: {label}, ", f"the wheel has no address {label}") for label in distributions.URLS),
        *(
            (
                f"Classifier: Programming Language :: Python :: {python}",
                f"the wheel has no classifier of Python {python}",
            )
            for python in distributions.PYTHONS
        ),
    ],
)
def test_missing_metadata_of_the_wheel_is_found(release: Release, line: str, finding: str) -> None:
    kept = [other for other in METADATA.split("\n") if not other.startswith(line)]
    write_distributions(release, "\n".join(kept))
    assert finding in list(distributions.wheel_metadata_is_complete(release))


def test_a_wheel_without_readme_is_found(release: Release) -> None:
    write_distributions(release, METADATA.replace("# Read me", ""))
    assert list(distributions.wheel_metadata_is_complete(release)) == ["the wheel has no readme"]


def test_a_file_that_the_record_of_the_wheel_does_not_have_is_found(release: Release) -> None:
    with ZipFile(release.wheel, "a") as wheel:
        wheel.writestr("pulsar_spark/late.py", "")
    assert list(distributions.wheel_record_matches(release)) == ["the record has another hash of pulsar_spark/late.py"]


def test_other_legal_texts_are_found(release: Release) -> None:
    write_zip(release.jar, {**JAR, "META-INF/NOTICE": b"another"})
    assert list(distributions.distributions_have_licence_and_notice(release)) == [
        "the wheel does not have the NOTICE of the jar",
        "the source distribution does not have the NOTICE of the jar",
    ]


def test_another_jar_is_found(release: Release) -> None:
    write_distributions(release, jar=b"stale")
    assert len(list(distributions.distributions_have_the_jar(release))) == 2


def test_a_second_jar_is_found(release: Release) -> None:
    write_distributions(release, files={"pulsar_spark/jars/old.jar": b"old"})
    assert len(list(distributions.distributions_have_the_jar(release))) == 2


def test_what_twine_rejects_is_found(release: Release) -> None:
    write_distributions(release, METADATA.replace("text/markdown", "text/x-rst").replace("# Read me", ".. nothing::"))
    (finding,) = distributions.twine_accepts(release)
    assert "FAILED" in finding


HOSTS = [
    "repo1.example.org",
    "maven.example.com",
    "test.pypi.example",
    "registry.example.io",
    "files.pythonhosted.example",
]


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_of_a_registry_is_found(release: Release, host: str) -> None:
    write_distributions(release, files={"pulsar_spark/mirror.py": f'URL = "https://user@{host}/simple"'.encode()})
    assert list(hosts.no_registry_is_named(release)) == [
        f"{release.wheel.name}: pulsar_spark/mirror.py names {host}",
        f"{release.sdist.name}: pulsar_spark-1.2.3/pulsar_spark/mirror.py names {host}",
    ]


def test_a_host_of_a_registry_in_the_pom_is_found(release: Release) -> None:
    release.pom.write_text(POM.replace("example.com", HOSTS[0]))
    assert list(hosts.no_registry_is_named(release)) == [f"{release.pom.name} names {HOSTS[0]}"]


@pytest.mark.parametrize(
    "text", [b"http://maven.apache.org/POM/4.0.0", b"https://example.com/maven", b"from the registry"]
)
def test_other_addresses_are_no_registries(text: bytes) -> None:
    assert hosts.registries(text) == []
