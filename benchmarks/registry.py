"""Jars from the Maven registry with everything they need, as `pulsar_spark.local.maven` gets single files."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from pulsar_spark.local import maven
from pulsar_spark.local.java import java_command

if TYPE_CHECKING:
    from collections.abc import Sequence

_RESOLVE_SECONDS = 900.0


def resolve(name: str, coordinates: Sequence[str], *, transitive: bool) -> Path:
    """Return a folder in the cache with the jars of ``group:artifact:version`` coordinates; ``name`` tells it apart.

    Args:
        name: The folder's name; another list of coordinates needs another name.
        coordinates: What to get.
        transitive: Whether to get what these depend on, too.

    Raises:
        maven.FetchError: They could not be had.
    """
    target = maven.cache_folder() / "benchmarks" / name
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetch-") as folder:
            work = Path(folder)
            _run_ivy(work, coordinates, transitive=transitive)
            (work / "jars").rename(target)
    return target


def _run_ivy(work: Path, coordinates: Sequence[str], *, transitive: bool) -> None:
    settings, module, log = work / "settings.xml", work / "ivy.xml", work / "log.txt"
    mirror = os.environ.get(maven.MIRROR_VARIABLE)
    root = f" root={quoteattr(mirror.rstrip('/') + '/')}" if mirror else ""
    settings.write_text(
        '<ivysettings><settings defaultResolver="registry"/>'
        f"<caches defaultCacheDir={quoteattr(str(work / 'ivy'))}/>"
        f'<resolvers><ibiblio name="registry" m2compatible="true" usepoms="true"{root}/></resolvers></ivysettings>',
        encoding="utf-8",
    )
    scopes = "default->compile,runtime,master" if transitive else "default->master"
    dependencies = "".join(
        f'<dependency org="{group}" name="{artifact}" rev="{version}" conf="{scopes}" '
        f'transitive="{str(transitive).lower()}"/>'
        for group, artifact, version in (c.split(":") for c in coordinates)
    )
    module.write_text(
        '<ivy-module version="2.0"><info organisation="io.github.pulsar-spark" module="benchmarks"/>'
        f"<dependencies>{dependencies}</dependencies></ivy-module>",
        encoding="utf-8",
    )
    command = [java_command(), "-Xmx256m", "-jar", str(maven.ivy_jar()), "-settings", str(settings)]
    command += ["-ivy", str(module), "-types", "jar", "bundle"]
    command += ["-retrieve", str(work / "jars" / "[artifact]-[revision](-[classifier]).[ext]")]
    with log.open("w", encoding="utf-8") as output:
        done = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, timeout=_RESOLVE_SECONDS, check=False)
    if done.returncode != 0:
        shutil.rmtree(work / "jars", ignore_errors=True)
        raise maven.FetchError(
            f"{', '.join(coordinates)} could not be had. Check the network, or name a mirror in "
            f"{maven.MIRROR_VARIABLE}. Ivy said:\n{log.read_text(encoding='utf-8', errors='replace')[-2000:]}"
        )
