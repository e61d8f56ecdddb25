"""The class data archive of the Java process, with which it starts in half the time.

A command only uses an archive. It starts this file as a script that makes one, and does not wait for it. The script
needs nothing of the package, so that no folder of the user is on its path.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_SECONDS = 600.0
_NICENESS = 10
# Loads the client and what it needs to connect; port 1 answers nobody.
_TRIAL = json.dumps(
    {
        "view": "partitions",
        "options": {"service.url": "pulsar://127.0.0.1:1", "topic": "none", "operationTimeoutMs": "200"},
    }
)


def archive_file(folder: Path, command: Sequence[str], jar: Path, spark: Path) -> Path:
    """The path of the archive of a command. It fits one build of Java, of the jar and of Spark.

    Archives of other builds in the same places begin with the same name.
    """
    java = Path(command[0]).resolve()
    build = [*command, str(java), *(str(path.stat().st_mtime_ns) for path in (java, jar, spark))]
    return folder / f"inspect-{_digest([command[0], str(jar.parent), str(spark)])}-{_digest(build)}.jsa"


def is_usable(archive: Path) -> bool:
    """True if the archive has been made. One of a Java that cannot make it is empty."""
    with contextlib.suppress(OSError):
        return archive.stat().st_size > 0
    return False


def make_later(archive: Path, command: Sequence[str]) -> None:
    """Start a process that makes the archive, unless there is one. It outlives this one, and its failure is none."""
    with contextlib.suppress(OSError):
        if not archive.exists():
            archive.parent.mkdir(parents=True, exist_ok=True)
            _started.append(_detached([sys.executable, "-I", __file__, str(archive), *command]))


_started: list[subprocess.Popen[bytes]] = []  # Python warns of one that runs and is forgotten


def _detached(command: Sequence[str]) -> subprocess.Popen[bytes]:
    nothing = subprocess.DEVNULL
    return subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)


def _digest(parts: Sequence[str]) -> str:
    return hashlib.sha256(os.pathsep.join(parts).encode()).hexdigest()[:12]


def _make(archive: Path, command: Sequence[str]) -> None:
    """Make the archive by a question that nobody answers, and remove those of other builds.

    It stays empty, and is not used, where Java cannot make it.

    Raises:
        BlockingIOError: Another process makes it.
    """
    import fcntl  # not on Windows, where there is no archive

    place = archive.stem.rpartition("-")[0]
    part = archive.with_name(f"{place}.part")
    with archive.with_name(f"{place}.lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if archive.exists():
            return
        part.unlink(missing_ok=True)
        java = [command[0], f"-XX:ArchiveClassesAtExit={part}", *command[1:]]
        # Java holds the lock as well, in case that this process is killed.
        subprocess.run(java, input=_TRIAL.encode(), timeout=_MOST_SECONDS, check=False, pass_fds=[lock.fileno()])
        part.touch()
        part.replace(archive)
        for other in archive.parent.glob(f"{place}-*.jsa"):
            if other != archive:
                other.unlink()


if __name__ == "__main__":
    os.nice(_NICENESS)
    _make(Path(sys.argv[1]), sys.argv[2:])
