"""Makes the files of a release."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from typing import TYPE_CHECKING

from release.layout import Release, version_of

if TYPE_CHECKING:
    from pathlib import Path


def build(root: Path, epoch: str) -> Release:
    """Makes jars, POM, wheel and source distribution in `dist/release`.

    Args:
        root: the folder with the sources
        epoch: the time that archives carry, in seconds since 1970
    """
    release = Release(root / "dist" / "release", version_of(root))
    shutil.rmtree(release.folder, ignore_errors=True)
    subprocess.run([root / "tools/sbt", "-warn", "connector/release"], cwd=root, check=True)
    jars = root / "python/pulsar_spark/jars"
    shutil.rmtree(jars, ignore_errors=True)
    jars.mkdir()
    shutil.copy(release.jar, jars)
    _hatch(root / "python", release.python, epoch, "-t", "sdist", "-t", "wheel")
    return release


def wheel_of_sdist(release: Release, folder: Path, epoch: str) -> Path:
    """Makes the wheel from the source distribution, unpacked in a folder, as an installation from it does."""
    with tarfile.open(release.sdist) as sdist:
        sdist.extractall(folder, filter="data")
    _hatch(folder / release.sdist.name.removesuffix(".tar.gz"), folder, epoch, "-t", "wheel")
    return folder / release.wheel.name


def copy_sources(root: Path, target: Path) -> None:
    """Copies what git knows of, as it is in the working tree, and links the Python environment that builds."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        copy = target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / name, copy, follow_symlinks=False)
    (target / ".venv").symlink_to(sys.prefix)


def commit_time(root: Path) -> str:
    """The time of the newest commit, in seconds since 1970."""
    command = ["git", "log", "-1", "--format=%ct"]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.strip()


def _hatch(project: Path, folder: Path, epoch: str, *targets: str) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder.resolve()), *targets]
    environment = os.environ | {"SOURCE_DATE_EPOCH": epoch}
    subprocess.run(command, cwd=project, env=environment, check=True, stdout=subprocess.DEVNULL)
