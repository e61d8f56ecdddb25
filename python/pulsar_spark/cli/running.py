"""Servers started by ``pulsar-spark local start``, for other processes."""

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
    """The state that ``start`` saves for ``status`` and ``stop``."""

    name: str
    pid: int
    service_url: str
    admin_url: str
    data_dir: str
    log_file: str
    keeps_data: bool

    @classmethod
    def of(cls, name: str, pulsar: LocalPulsar) -> RunningServer:
        """The state of a server that has just started."""
        folder, log = str(pulsar.data_dir), str(pulsar.log_file)
        return cls(name, pulsar.pid, pulsar.service_url, pulsar.admin_url, folder, log, pulsar.keeps_data)

    @classmethod
    def find(cls, name: str) -> RunningServer | None:
        """The running server of this name. Files of a server that has ended are removed."""
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
        """The process of the server."""
        return ServerProcess(self.pid, Path(self.data_dir) / LOCK_NAME)

    def save(self) -> None:
        """Write the file that `find` reads."""
        file = state_file(self.name)
        part = file.with_suffix(".part")
        part.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")
        part.replace(file)

    def forget(self) -> None:
        """Remove the file and, unless they are kept, the data of a server that has ended."""
        state_file(self.name).unlink(missing_ok=True)
        if not self.keeps_data:
            shutil.rmtree(self.data_dir, ignore_errors=True)

    def text(self) -> str:
        """The state as text."""
        kept = "kept" if self.keeps_data else "removed when it stops"
        return (
            f"  service URL  {self.service_url}\n  admin URL    {self.admin_url}\n"
            f"  process      {self.pid}\n  data         {self.data_dir} ({kept})\n  log          {self.log_file}"
        )


def state_file(name: str) -> Path:
    """The file with the state of the server of this name."""
    return maven.cache_folder() / "local" / f"{name}.json"
