"""The ``pulsar-spark`` command.

Exit codes: 0 done, 1 failed (the reason is on stderr), 2 wrong usage, 3 ``local status`` found no running server.
Answers go to stdout (with ``--json`` one JSON object), progress and errors to stderr.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import re
import shutil
import signal
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pulsar_spark import _versions, maven
from pulsar_spark._listing import add_options
from pulsar_spark._process import FileLock, InUseError, ServerProcess, is_port_free
from pulsar_spark.demo.__main__ import add_arguments
from pulsar_spark.errors import PulsarSparkError
from pulsar_spark.local import LOCK_NAME, READY_SECONDS, STOP_SECONDS, LocalPulsar, LocalPulsarError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DONE, FAILED, NOT_RUNNING = 0, 1, 3

_DEFAULT_NAME = "default"
_BROKER_PORT, _WEB_PORT = 6650, 8080
_WATCH_SECONDS = 0.2


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


def _local_start(chosen: argparse.Namespace) -> int:
    file = state_file(chosen.name)
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(file.with_suffix(".lock")):
            running = RunningServer.find(chosen.name)
            if running is not None:
                _answer(chosen, running, "A local Pulsar is already running.")
                return DONE if chosen.detach else FAILED
            pulsar = _described(chosen)
            _say("Starting a local Pulsar ...")
            begin = time.monotonic()
            pulsar.start()
            server = RunningServer.of(chosen.name, pulsar)
            server.save()
    except InUseError as error:
        raise LocalPulsarError(f"Another start or stop of '{chosen.name}' is under way.") from error
    took = f"A local Pulsar is running (ready in {time.monotonic() - begin:.1f} s)."
    if chosen.detach:
        name = "" if chosen.name == _DEFAULT_NAME else f" --name {chosen.name}"
        _answer(chosen, server, f"{took} Stop it with: pulsar-spark local stop{name}")
        return DONE
    return _watch(pulsar, server, lambda: _answer(chosen, server, f"{took} Press Ctrl-C to stop it."))


def _described(chosen: argparse.Namespace) -> LocalPulsar:
    return LocalPulsar(
        server_version=chosen.server_version,
        data_dir=chosen.data_dir,
        broker_port=_port(chosen.port, _BROKER_PORT),
        web_port=_port(chosen.web_port, _WEB_PORT),
        heap=chosen.heap,
        direct=chosen.direct,
        transactions=chosen.transactions,
        config=dict(chosen.config),
        java=chosen.java,
        ready_seconds=chosen.ready_seconds,
        detached=chosen.detach,
    )


def _port(wanted: int | None, usual: int) -> int | None:
    """The port asked for, else Pulsar's usual one when it is free, else any."""
    return wanted if wanted is not None else usual if is_port_free(usual) else None


def _watch(pulsar: LocalPulsar, server: RunningServer, announce: Callable[[], None]) -> int:
    """Wait until Ctrl-C or SIGTERM stops the server here, or ``stop`` does so elsewhere.

    ``announce`` is called where a signal already ends the server in order: who reads it may send one at once.
    """
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        announce()
        while pulsar.running:
            time.sleep(_WATCH_SECONDS)
        if not state_file(server.name).exists():
            _say("The local Pulsar was stopped.")
            return DONE
        print(f"The local Pulsar ended by itself; its log was {server.log_file}.", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        _say("Stopping ...")
        return DONE
    finally:
        pulsar.stop()
        server.forget()


def _local_stop(chosen: argparse.Namespace) -> int:
    server = RunningServer.find(chosen.name)
    if server is not None:
        # Removed first, so that a start in the foreground sees that the end was wanted.
        state_file(server.name).unlink(missing_ok=True)
        server.process.stop(STOP_SECONDS)
        server.forget()
    if chosen.json:
        print(json.dumps({"stopped": server is not None}))
    else:
        print("The local Pulsar is stopped." if server is not None else "No local Pulsar was running.")
    return DONE


def _local_status(chosen: argparse.Namespace) -> int:
    server = RunningServer.find(chosen.name)
    if server is not None:
        _answer(chosen, server, "A local Pulsar is running.")
        return DONE
    print(
        json.dumps({"running": False})
        if chosen.json
        else "No local Pulsar is running. Start one with: pulsar-spark local start"
    )
    return NOT_RUNNING


def _answer(chosen: argparse.Namespace, server: RunningServer, headline: str) -> None:
    print(
        json.dumps({"running": True, **asdict(server)}) if chosen.json else f"{headline}\n{server.text()}", flush=True
    )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _setting(text: str) -> tuple[str, str]:
    key, sign, value = text.partition("=")
    if not key or not sign:
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form KEY=VALUE")
    return key, value


def _name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][\w-]*", text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a name: use letters, digits, - and _")
    return text


def parser() -> argparse.ArgumentParser:
    """The command line; each verb adds itself with the function that runs it as ``run``."""
    top = argparse.ArgumentParser(prog="pulsar-spark", description="Pulsar and Spark from the command line.")
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_local(commands)
    add_options(commands)
    summary = "start a real Pulsar, fill it, then read, stream and write it with Spark"
    add_arguments(commands.add_parser("demo", help=summary, description=summary))
    return top


def _add_local(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    summary = "start, stop and look at a Pulsar server on this machine"
    verbs = commands.add_parser("local", help=summary, description=summary).add_subparsers(
        title="commands", required=True, metavar="COMMAND"
    )

    def verb(name: str, run: Callable[[argparse.Namespace], int], summary: str) -> argparse.ArgumentParser:
        added = verbs.add_parser(name, help=summary, description=summary)
        added.set_defaults(run=run)
        added.add_argument("--json", action="store_true", help="answer with one JSON object")
        added.add_argument(
            "--name", type=_name, default=_DEFAULT_NAME, help="tells several servers apart (default: %(default)s)"
        )
        return added

    start = verb("start", _local_start, "start a server and wait until it is ready; Ctrl-C stops it")
    start.add_argument("--detach", action="store_true", help="return once it is ready and let it go on until 'stop'")
    start.add_argument(
        "--port", type=int, help=f"service port (default: {_BROKER_PORT}, or any free one when that is taken)"
    )
    start.add_argument(
        "--web-port", type=int, help=f"admin port (default: {_WEB_PORT}, or any free one when that is taken)"
    )
    start.add_argument(
        "--data-dir", type=Path, help="folder for data and log, kept afterwards (default: a temporary one)"
    )
    known = ", ".join(_versions.KNOWN)
    start.add_argument("--server-version", help=f"version of Pulsar: {known} (default: {_versions.DEFAULT})")
    start.add_argument("--transactions", action="store_true", help="run the transaction coordinator")
    start.add_argument("--heap", help="Java heap size, such as 512m")
    start.add_argument("--direct", help="size of the off-heap buffers, such as 512m")
    start.add_argument("--java", help="the java command (default: that of JAVA_HOME or PATH)")
    start.add_argument(
        "--config", type=_setting, action="append", default=[], metavar="KEY=VALUE", help="a further broker setting"
    )
    start.add_argument(
        "--ready-seconds", type=float, default=READY_SECONDS, help="how long the start may take (default: %(default)g)"
    )
    verb("stop", _local_stop, "stop the server; nothing happens when none is running")
    verb("status", _local_status, "show the running server; the exit code is 3 when there is none")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    chosen = parser().parse_args(arguments)
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    logging.getLogger("pulsar_spark").setLevel(logging.INFO)
    try:
        code: int = chosen.run(chosen)
        return code
    except (LocalPulsarError, PulsarSparkError) as error:
        _say(f"error: {error}")
        return FAILED
    except BrokenPipeError:  # as in `pulsar-spark options | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except KeyboardInterrupt:
        _say("Interrupted.")
        return FAILED


if __name__ == "__main__":
    sys.exit(main())
