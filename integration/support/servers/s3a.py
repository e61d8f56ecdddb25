"""Hadoop's client for S3, with the modules of the AWS SDK that it needs: 14 MB, not the 558 MB of its POM."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from xml.sax.saxutils import quoteattr

from pulsar_spark.local import maven
from pulsar_spark.local.java import java_command
from pulsar_spark.local.locks import FileLock

HADOOP = "3.5.0"  # that of the main Spark line
_AWS_SDK = "2.35.4"  # what hadoop-aws of that version is built with
_MODULES = (
    *(f"software.amazon.awssdk:{name}:{_AWS_SDK}" for name in ("s3", "s3-transfer-manager", "sts")),
    "software.amazon.s3.analyticsaccelerator:analyticsaccelerator-s3:1.3.1",
)

_SECONDS = 600


def s3a_jars() -> list[Path]:
    """The jars, from the cache or downloaded."""
    assert list(maven.ivy_jar().parent.glob(f"hadoop-client-api-{HADOOP}.jar")), (
        f"Spark has another Hadoop than {HADOOP}"
    )
    folder = maven.cache_folder() / "tests" / f"hadoop-aws-{HADOOP}-{_AWS_SDK}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_name(f"{folder.name}.lock"), patience_seconds=_SECONDS):
        if not folder.exists():
            _download(folder)
    return sorted(folder.glob("*.jar"))


def _download(target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetch-") as name:
        work = Path(name)
        (work / "settings.xml").write_text(_settings(work), encoding="utf-8")
        (work / "ivy.xml").write_text(_module(), encoding="utf-8")
        command = [java_command(), "-Xmx256m", "-jar", str(maven.ivy_jar()), "-settings", "settings.xml"]
        command += ["-ivy", "ivy.xml", "-retrieve", "jars/[artifact]-[revision].[ext]"]
        done = subprocess.run(command, cwd=work, capture_output=True, text=True, timeout=_SECONDS, check=False)
        assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-1000:]}"
        shutil.move(work / "jars", target)


def _settings(work: Path) -> str:
    mirror = os.environ.get(maven.MIRROR_VARIABLE)
    root = f" root={quoteattr(mirror.rstrip('/') + '/')}" if mirror else ""
    return (
        '<ivysettings><settings defaultResolver="registry"/>'
        f"<caches defaultCacheDir={quoteattr(str(work / 'ivy-cache'))}/>"
        f'<resolvers><ibiblio name="registry" m2compatible="true"{root}/></resolvers></ivysettings>'
    )


def _module() -> str:
    """Without the SDK's bundle, and without what Spark has: netty and logging."""
    modules = "".join(
        '<dependency org="{}" name="{}" rev="{}" conf="default->compile,runtime,master"/>'.format(*module.split(":"))
        for module in _MODULES
    )
    return (
        '<ivy-module version="2.0"><info organisation="io.github.pulsar-spark" module="fetch"/>'
        '<configurations><conf name="default"/></configurations><dependencies>'
        f'<dependency org="org.apache.hadoop" name="hadoop-aws" rev="{HADOOP}" conf="default->master"/>{modules}'
        '<exclude org="io.netty"/><exclude org="org.slf4j"/></dependencies></ivy-module>'
    )
