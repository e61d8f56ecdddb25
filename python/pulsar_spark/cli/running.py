"""The servers that ``pulsar-spark local start`` started, as other processes see them."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pulsar_spark.local import LocalPulsarError, maven
from pulsar_spark.local.process import ServerProcess
from pulsar_spark.local.pulsar import LOCK_NAME

if TYPE_CHECKING:
    from pulsar_spark.local import LocalPulsar


@dataclass(frozen=True)
class RunningServer:
    """What ``start`` writes down so that ``status`` and ``stop`` find the server."""

    name: str
    pid: int
    service_url: str
    admin_url: str
    data_dir: str
    log_file: str
    keeps_data: bool

    @classmethod
    def of(cls, name: str, pulsar: LocalPulsar) -> RunningServer:
        """Describe a server that was just started."""
        folder, log = str(pulsar.data_dir), str(pulsar.log_file)
        return cls(name, pulsar.pid, pulsar.service_url, pulsar.admin_url, folder, log, pulsar.keeps_data)

    @classmethod
    def find(cls, name: str) -> RunningServer | None:
        """The running server of this name. Remains of one that ended by itself are removed."""
        file = state_file(name)
        try:
            found = cls(**json.loads(file.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError) as error:
            raise LocalPulsarError(f"{file} cannot be read ({error}). Delete it.") from error
        if found.process.running:
            return found
        found.forget()
        return None

    @property
    def process(self) -> ServerProcess:
        """The server, as seen from a process that did not start it."""
        return ServerProcess(self.pid, Path(self.data_dir) / LOCK_NAME)

    def save(self) -> None:
        """Write the file that `find` reads."""
        file = state_file(self.name)
        part = file.with_suffix(".part")
        part.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")
        part.replace(file)

    def forget(self) -> None:
        """Remove the file and, unless it is to be kept, the data of a server that has ended."""
        state_file(self.name).unlink(missing_ok=True)
        if not self.keeps_data:
            shutil.rmtree(self.data_dir, ignore_errors=True)

    def text(self) -> str:
        """The lines shown to people."""
        kept = "kept" if self.keeps_data else "removed when it stops"
        return (
            f"  service URL  {self.service_url}\n  admin URL    {self.admin_url}\n"
            f"  process      {self.pid}\n  data         {self.data_dir} ({kept})\n  log          {self.log_file}"
        )


def state_file(name: str) -> Path:
    """Where the server of this name is written down."""
    return maven.cache_folder() / "local" / f"{name}.json"
