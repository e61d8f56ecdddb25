"""What a standalone server leaves in its metadata store when it ends without being asked."""

from __future__ import annotations

import logging
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pulsar_spark.local.java import Java

_PROGRAM = Path(__file__).with_name("EphemeralNodes.java")
_SECONDS = 60.0

_log = logging.getLogger(__name__)


def end_session(java: Java, jars: Path, store: Path) -> list[str]:
    """Delete the ephemeral nodes of a server that has ended, as it does itself when it is stopped.

    Nobody else does when it was killed: sessions of this kind of store never expire. A bookie that finds itself
    registered already may then register and unregister many times a second for as long as it runs (Pulsar issue
    17759), and writes fail while it is not there.

    Args:
        java: A JDK: it compiles the program first.
        jars: The folder with the jars of the server.
        store: The folder of the RocksDB metadata store; no server may run on it.

    Returns:
        The paths of the deleted nodes. Empty, with a warning in the log, when the store could not be opened: a server
        says better what is wrong with it.
    """
    if not store.exists():
        return []
    class_path = ":".join(str(jar) for jar in jars.glob("*rocksdbjni*.jar"))
    command = [java.command, "-Xmx64m", "-cp", class_path, str(_PROGRAM), str(store)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=_SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        said = (getattr(error, "stderr", None) or str(error)).strip()
        _log.warning("The server may be unstable, the session before could not be ended in %s: %s", store, said)
        return []
    return done.stdout.splitlines()
