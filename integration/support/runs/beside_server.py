"""Runs a command beside a Pulsar which all tests that it starts share, unless the environment gives them one.

The folder of the server, the first argument, is made anew. It stays, with the server's log.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from support.runs import sharing
from support.servers.servers import NoServerError, choose, running_server, shared_by


def main(folder: Path, command: list[str]) -> int:
    if choose(os.environ).kind == "given":
        return subprocess.run(command, check=False).returncode
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        with running_server(folder) as addresses:
            log = {sharing.LOG: str(folder.absolute() / sharing.LOG_NAME)}
            return subprocess.run(command, env={**os.environ, **shared_by(addresses), **log}, check=False).returncode
    except NoServerError as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
