"""What the jars may hold and must hold."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING
from zipfile import ZipFile

from release.libraries import LIST, bundled

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from release.layout import Release

OURS = "io/github/pulsarspark/"
JAVA_17 = 61

# Everything else is ours or relocated below ours. Native libraries spell the name of their one class out.
ROOTS = re.compile(
    rf"{OURS}.+|lib/libcirce-checksum\.so|com/scurrilous/circe/crc/Sse42Crc32C\.class|META-INF/("
    r"MANIFEST\.MF|(LICENSE|NOTICE)(_[^/]+)?|license/[^/]+"
    r"|services/(io\.github\.pulsarspark\.[^/]+|org\.apache\.spark\.sql\.sources\.DataSourceRegister)"
    r"|native/libio_github_pulsarspark_shaded_[^/]+\.so)"
)


def names(jar: Path) -> list[str]:
    """The files in a jar."""
    with ZipFile(jar) as opened:
        return [name for name in opened.namelist() if not name.endswith("/")]


def jar_has_our_roots_only(release: Release) -> Iterator[str]:
    """Each file of the jar is ours, is relocated below ours, or is one of few known exceptions."""
    yield from (f"{name} is outside our packages" for name in names(release.jar) if not ROOTS.fullmatch(name))


def jars_have_no_duplicates(release: Release) -> Iterator[str]:
    """No jar has two entries of one name."""
    for jar in (release.jar, release.sources, release.javadoc):
        yield from (f"{jar.name} has {name} {n} times" for name, n in Counter(names(jar)).items() if n > 1)


def jars_have_licence_and_notice(release: Release) -> Iterator[str]:
    """Each jar has the project's licence and notice, and the jar has the list of libraries in it."""
    for jar in (release.jar, release.sources, release.javadoc):
        with ZipFile(jar) as opened:
            present = {entry.filename for entry in opened.infolist() if entry.file_size}
        yield from (
            f"{jar.name} has no {name}" for name in ("META-INF/LICENSE", "META-INF/NOTICE") if name not in present
        )
    if not list(bundled(release.jar)):
        yield f"{release.jar.name} has no library in {LIST}"


def libraries_are_final(release: Release) -> Iterator[str]:
    """No library in the jar is a snapshot."""
    yield from (f"{lib.coordinate} is a snapshot" for lib in bundled(release.jar) if lib.version.endswith("-SNAPSHOT"))


def classes_are_of_java_17(release: Release) -> Iterator[str]:
    """No class needs a newer Java than 17; ours are compiled for it."""
    with ZipFile(release.jar) as opened:
        for name in (name for name in opened.namelist() if name.endswith(".class")):
            with opened.open(name) as stream:
                version = int.from_bytes(stream.read(8)[6:8], "big")
            ours = name.startswith(OURS) and not name.startswith(f"{OURS}shaded/")
            if version > JAVA_17 or (ours and version != JAVA_17):
                yield f"{name} has class file version {version}"


def sources_are_there(release: Release) -> Iterator[str]:
    """The sources jar has Scala and Java sources, and those that the build generates."""
    present = names(release.sources)
    yield from (f"no {suffix} in the sources" for suffix in (".scala", ".java") if not _any(present, suffix))
    generated = (f"{OURS}errors/Conditions.scala", "BuildInfo.scala")
    yield from (f"no {name} in the sources" for name in generated if not _any(present, name))
    yield from (f"{name} is in the sources" for name in present if name.endswith(".class"))


def documentation_is_there(release: Release) -> Iterator[str]:
    """The documentation jar has a page for the package and for the data source."""
    present = names(release.javadoc)
    pages = ("index.html", f"{OURS}index.html", f"{OURS}PulsarTableProvider.html")
    yield from (f"no {page} in the documentation" for page in pages if page not in present)


def _any(present: list[str], suffix: str) -> bool:
    return any(name.endswith(suffix) for name in present)
