"""Bills of materials (CycloneDX, JSON) of the jar and of the wheel, the same bytes for the same release."""

from __future__ import annotations

import hashlib
from datetime import datetime, timezone
from email import message_from_bytes
from typing import TYPE_CHECKING
from uuid import NAMESPACE_URL, uuid5
from zipfile import ZipFile

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL
from packaging.requirements import Requirement

from release.layout import ARTIFACT, GROUP
from release.libraries import bundled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from release.layout import Release
    from release.libraries import Library


def write(release: Release, epoch: str) -> None:
    """Writes the bills of materials into the folder `sbom` of the release."""
    folder = release.folder / "sbom"
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in ((release.jar, of_jar(release, epoch)), (release.wheel, of_wheel(release, epoch))):
        (folder / f"{file.name}.cdx.json").write_text(text, encoding="utf-8")


def of_jar(release: Release, epoch: str) -> str:
    """The jar with the libraries in it."""
    libraries = [_library(library) for library in bundled(release.jar)]
    return _text(_jar(release), libraries, libraries, epoch)


def of_wheel(release: Release, epoch: str) -> str:
    """The wheel with the jar and the libraries in it, and with the Python packages that it requires."""
    wheel = _component(
        "pulsar-spark",
        version=release.version,
        purl=PackageURL("pypi", None, "pulsar-spark", release.version),
        sha256=_sha256(release.wheel),
    )
    jar, libraries = _jar(release), [_library(library) for library in bundled(release.jar)]
    packages = [
        _component(name, purl=PackageURL("pypi", None, name), licence=None, type_=ComponentType.LIBRARY)
        for name in required(release.wheel)
    ]
    return _text(wheel, [jar, *libraries, *packages], [jar, *packages], epoch, {jar: libraries})


def required(wheel: Path) -> list[str]:
    """The names of the packages that an installation of the wheel without extras requires."""
    with ZipFile(wheel) as opened:
        name = next(name for name in opened.namelist() if name.endswith(".dist-info/METADATA"))
        lines = message_from_bytes(opened.read(name)).get_all("Requires-Dist", [])
    requirements = map(Requirement, lines)
    return sorted(r.name for r in requirements if r.marker is None or "extra" not in str(r.marker))


def problems(text: str) -> Iterator[str]:
    """What the schema of CycloneDX 1.6 says against a bill of materials."""
    error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if error:
        yield str(error)


def bills_of_materials_are_valid(release: Release) -> Iterator[str]:
    """Jar and wheel have a bill of materials, valid by CycloneDX's schema."""
    for file in (release.jar, release.wheel):
        bill = release.folder / "sbom" / f"{file.name}.cdx.json"
        if bill.exists():
            yield from (f"{bill.name}: {problem}" for problem in problems(bill.read_text(encoding="utf-8")))
        else:
            yield f"{bill.name} is missing"


def _jar(release: Release) -> Component:
    return _component(
        ARTIFACT,
        group=GROUP,
        version=release.version,
        purl=PackageURL("maven", GROUP, ARTIFACT, release.version),
        sha256=_sha256(release.jar),
    )


def _library(library: Library) -> Component:
    qualifiers = {"classifier": library.classifier} if library.classifier else None
    return _component(
        library.name,
        group=library.group,
        version=library.version,
        purl=PackageURL("maven", library.group, library.name, library.version, qualifiers),
        sha256=library.sha256,
        licence=library.licence,
    )


def _component(
    name: str,
    *,
    purl: PackageURL,
    group: str | None = None,
    version: str | None = None,
    sha256: str | None = None,
    licence: str | None = "Apache-2.0",
    type_: ComponentType = ComponentType.LIBRARY,
) -> Component:
    return Component(
        type=type_,
        group=group,
        name=name,
        version=version,
        purl=purl,
        bom_ref=purl.to_string(),
        scope=ComponentScope.REQUIRED,
        licenses=[LicenseFactory().make_from_string(licence)] if licence else [],
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=sha256)] if sha256 else [],
    )


def _text(
    subject: Component,
    components: Iterable[Component],
    direct: Iterable[Component],
    epoch: str,
    more: dict[Component, list[Component]] | None = None,
) -> str:
    assert subject.purl
    bom = Bom(
        serial_number=uuid5(NAMESPACE_URL, f"{subject.purl.to_string()}#{epoch}"),
        metadata=BomMetaData(component=subject, timestamp=datetime.fromtimestamp(int(epoch), timezone.utc)),
        components=components,
    )
    bom.register_dependency(subject, direct)
    for component, parts in (more or {}).items():
        bom.register_dependency(component, parts)
    return JsonV1Dot6(bom).output_as_string(indent=2) + "\n"


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
