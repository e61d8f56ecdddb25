"""The metadata store of a standalone server that was killed."""

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
    """Delete the ephemeral nodes of a server that was killed. A server that is stopped deletes them itself.

    Sessions of this store never expire. A bookie that finds itself already registered may register and unregister many
    times a second until it ends (Pulsar issue 17759), and writes fail while it is unregistered.

    Args:
        java: A JDK, since it compiles the program.
        jars: The folder with the jars of the server.
        store: The folder of the RocksDB metadata store; no server may be running on it.

    Returns:
        The paths of the deleted nodes. Empty, with a warning in the log, if the store cannot be opened: the server
        reports the reason better.
    """
    if not store.exists():
        return []
    class_path = ":".join(str(jar) for jar in jars.glob("*rocksdbjni*.jar"))
    command = [java.command, "-Xmx64m", "-cp", class_path, str(_PROGRAM), str(store)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=_SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        output = (getattr(error, "stderr", None) or str(error)).strip()
        _log.warning("The server may be unstable, the previous session could not be ended in %s: %s", store, output)
        return []
    return done.stdout.splitlines()
