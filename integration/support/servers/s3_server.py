"""An S3 server on this machine for tests: moto, which keeps everything in memory."""

from __future__ import annotations

import sys
import urllib.request
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pulsar_spark.local import S3Offload
from pulsar_spark.local.locks import FileLock
from pulsar_spark.local.ports import Port
from pulsar_spark.local.process import ServerProcess
from support.spark.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

_PROGRAM = Path(__file__).with_name("s3_app.py")
_READY_SECONDS = 180
_STOP_SECONDS = 10
_REQUEST_SECONDS = 180


@dataclass(frozen=True)
class S3Server:
    """A running S3 server that accepts all credentials."""

    endpoint: str

    def bucket(self, name: str) -> S3Offload:
        """Create a bucket for offloading."""
        self._call("PUT", name)
        return S3Offload(self.endpoint, name, access_key="test-user", secret_key="test-secret")

    def refuse_everybody(self) -> None:
        """Reject all credentials from now on."""
        self._call("POST", "moto-api/reset-auth", b"0")

    def answers(self) -> bool:
        try:
            self._call("GET", "")
        except OSError:
            return False
        return True

    def _call(self, method: str, path: str, body: bytes | None = None) -> None:
        headers = {"Content-Type": "text/plain"} if body else {}
        request = urllib.request.Request(f"{self.endpoint}/{path}", data=body, headers=headers, method=method)
        # Proxies of the environment are not for local servers.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=_REQUEST_SECONDS):
            pass


@contextmanager
def running_s3(folder: Path) -> Iterator[S3Server]:
    """Run a server whose log is in the folder; it ends with this process at the latest."""
    with closing(Port.reserve()) as port, FileLock(folder / "s3.lock") as lock:
        command = [sys.executable, str(_PROGRAM), "127.0.0.1", str(port.number)]
        process = ServerProcess.supervised(command, folder=folder, log=folder / "s3.log", lock=lock, discard=False)
        try:
            server = S3Server(f"http://127.0.0.1:{port.number}")
            eventually(lambda: server.answers() or not process.running, seconds=_READY_SECONDS)
            assert process.running, (folder / "s3.log").read_text()
            yield server
        finally:
            process.stop(_STOP_SECONDS)
