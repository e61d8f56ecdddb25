from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from fake_release import make
from release import sbom

if TYPE_CHECKING:
    from pathlib import Path

    from release.layout import Release

EPOCH = "1700000000"
JAR = "pkg:maven/io.github.pulsar-spark/pulsar-spark-connector_2.13@1.2.3"
ONE = "pkg:maven/org.example/one@1.0"
TWO = "pkg:maven/org.example/two@2.0?classifier=linux-x86_64"


@pytest.fixture
def release(tmp_path: Path) -> Release:
    return make(tmp_path)


def test_the_bill_of_the_jar_has_its_libraries(release: Release) -> None:
    bill = json.loads(sbom.of_jar(release, EPOCH))
    one, two = bill["components"]
    assert bill["metadata"]["component"]["purl"] == JAR
    assert (one["purl"], two["purl"]) == (ONE, TWO)
    assert one["hashes"] == [{"alg": "SHA-256", "content": "a" * 64}]
    assert one["licenses"][0]["license"]["id"] == "Apache-2.0"
    assert two["licenses"][0]["expression"] == "EPL-2.0 OR GPL-2.0-only WITH Classpath-exception-2.0"
    assert {d["ref"]: d.get("dependsOn") for d in bill["dependencies"]}[JAR] == [ONE, TWO]


def test_the_bill_of_the_wheel_has_the_jar_and_what_it_requires(release: Release) -> None:
    bill = json.loads(sbom.of_wheel(release, EPOCH))
    assert {c["purl"] for c in bill["components"]} == {JAR, ONE, TWO, "pkg:pypi/pyspark"}
    edges = {d["ref"]: d.get("dependsOn") for d in bill["dependencies"]}
    assert edges["pkg:pypi/pulsar-spark@1.2.3"] == [JAR, "pkg:pypi/pyspark"]
    assert edges[JAR] == [ONE, TWO]


def test_bills_are_valid_and_the_same_each_time(release: Release) -> None:
    sbom.write(release, EPOCH)
    files = sorted((release.folder / "sbom").iterdir())
    texts = [file.read_text() for file in files]
    sbom.write(release, EPOCH)
    assert [file.read_text() for file in files] == texts
    assert list(sbom.bills_of_materials_are_valid(release)) == []


def test_missing_and_invalid_bills_are_found(release: Release) -> None:
    assert len(list(sbom.bills_of_materials_are_valid(release))) == 2
    sbom.write(release, EPOCH)
    bill = release.folder / "sbom" / f"{release.jar.name}.cdx.json"
    bill.write_text(bill.read_text().replace('"type": "library"', '"type": "book"'))
    assert [finding.partition(":")[0] for finding in sbom.bills_of_materials_are_valid(release)] == [bill.name]
