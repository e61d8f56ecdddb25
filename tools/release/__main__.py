"""Builds what a release publishes, twice, and checks it.

PYTHONPATH=tools python -m release           both builds, then every rule
PYTHONPATH=tools python -m release --check   the rules alone, for what is in dist/release
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from release import sbom
from release.build import build, commit_time, copy_sources, wheel_of_sdist
from release.layout import Release, version_of
from release.rules import RULES, title
from release.same import differences

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Build and check; returns the exit code."""
    parser = argparse.ArgumentParser(prog="release", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="build nothing, check what is in dist/release")
    release = Release(ROOT / "dist" / "release", version_of(ROOT))
    passed = True
    if not parser.parse_args().check:
        passed = built_twice()
    elif not all(path.exists() for path in release.files):
        parser.error("dist/release does not have all files: run `make release-check`")
    for rule in RULES:
        passed &= reported(title(rule), rule(release))
    print(
        f"{release.folder.relative_to(ROOT)}: {'can be signed and published' if passed else 'is not to be published'}"
    )
    return 0 if passed else 1


def built_twice() -> bool:
    """Builds here and in a copy of the sources in another folder; returns whether both gave the same bytes."""
    epoch = commit_time(ROOT)
    release = _built(ROOT, epoch)
    with TemporaryDirectory(prefix="pulsar-spark-release-") as name:
        copy = Path(name) / "copy"
        copy_sources(ROOT, copy)
        again = _built(copy, epoch)
        same = reported("Two builds in two folders have the same bytes.", differences(release.folder, again.folder))
        wheel = wheel_of_sdist(release, Path(name) / "unpacked", epoch)
        against = [] if wheel.read_bytes() == release.wheel.read_bytes() else [f"{wheel.name} differs"]
        return reported("The wheel that the source distribution makes is the published one.", against) and same


def reported(said: str, findings: Iterable[str]) -> bool:
    """Prints a rule with what is against it; returns whether nothing is."""
    against = list(findings)
    print(f"{'FAILED' if against else 'ok    '} {said}")
    for finding in against:
        print(f"       {finding}")
    return not against


def _built(root: Path, epoch: str) -> Release:
    release = build(root, epoch)
    sbom.write(release, epoch)
    return release


if __name__ == "__main__":
    sys.exit(main())
