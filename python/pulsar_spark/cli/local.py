"""The verbs ``pulsar-spark local start``, ``stop`` and ``status``."""

from __future__ import annotations

import argparse
import json
import re
import signal
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from pulsar_spark.cli.output import DONE, FAILED, NOT_RUNNING, say
from pulsar_spark.cli.running import RunningServer, state_file
from pulsar_spark.local import LocalPulsar, LocalPulsarError, versions
from pulsar_spark.local.locks import FileLock, InUseError
from pulsar_spark.local.ports import is_port_free
from pulsar_spark.local.pulsar import READY_SECONDS, STOP_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable

_DEFAULT_NAME = "default"
_BROKER_PORT, _WEB_PORT = 6650, 8080
_WATCH_SECONDS = 0.2


def _local_start(chosen: argparse.Namespace) -> int:
    file = state_file(chosen.name)
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(file.with_suffix(".lock")):
            running = RunningServer.find(chosen.name)
            if running is not None:
                _show(chosen, running, "A local Pulsar is already running.")
                return DONE if chosen.detach else FAILED
            pulsar = _described(chosen)
            say("Starting a local Pulsar ...")
            begin = time.monotonic()
            pulsar.start()
            server = RunningServer.of(chosen.name, pulsar)
            server.save()
    except InUseError as error:
        raise LocalPulsarError(f"Another start or stop of '{chosen.name}' is in progress.") from error
    took = f"A local Pulsar is running (ready in {time.monotonic() - begin:.1f} s)."
    if chosen.detach:
        name = "" if chosen.name == _DEFAULT_NAME else f" --name {chosen.name}"
        _show(chosen, server, f"{took} Stop it with: pulsar-spark local stop{name}")
        return DONE
    return _watch(pulsar, server, lambda: _show(chosen, server, f"{took} Press Ctrl-C to stop it."))


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


def _port(requested: int | None, default: int) -> int | None:
    """The requested port, else Pulsar's default if that is free, else None for any."""
    return requested if requested is not None else default if is_port_free(default) else None


def _watch(pulsar: LocalPulsar, server: RunningServer, announce: Callable[[], None]) -> int:
    """Wait until Ctrl-C, SIGTERM or ``stop`` of another process ends the server.

    ``announce`` is called once signals are handled, so that a reader of its output may send one at once.
    """
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        announce()
        while pulsar.running:
            time.sleep(_WATCH_SECONDS)
        if not state_file(server.name).exists():
            say("The local Pulsar was stopped.")
            return DONE
        print(f"The local Pulsar has ended unexpectedly; its log was {server.log_file}.", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        say("Stopping ...")
        return DONE
    finally:
        pulsar.stop()
        server.forget()


def _local_stop(chosen: argparse.Namespace) -> int:
    server = RunningServer.find(chosen.name)
    if server is not None:
        # Removed first, so that a start in the foreground sees that the stop was requested.
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
        _show(chosen, server, "A local Pulsar is running.")
        return DONE
    print(
        json.dumps({"running": False})
        if chosen.json
        else "No local Pulsar is running. Start one with: pulsar-spark local start"
    )
    return NOT_RUNNING


def _show(chosen: argparse.Namespace, server: RunningServer, headline: str) -> None:
    print(
        json.dumps({"running": True, **asdict(server)}) if chosen.json else f"{headline}\n{server.text()}", flush=True
    )


def _setting(text: str) -> tuple[str, str]:
    key, sign, value = text.partition("=")
    if not key or not sign:
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form KEY=VALUE")
    return key, value


def _name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][\w-]*", text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a name: use letters, digits, - and _")
    return text


def add_local(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verbs to the command line."""
    summary = "start, stop and show a Pulsar server on this machine"
    verbs = commands.add_parser("local", help=summary, description=summary).add_subparsers(
        title="commands", required=True, metavar="COMMAND"
    )

    def verb(name: str, run: Callable[[argparse.Namespace], int], summary: str) -> argparse.ArgumentParser:
        added = verbs.add_parser(name, help=summary, description=summary)
        added.set_defaults(run=run)
        added.add_argument("--json", action="store_true", help="print one JSON object")
        added.add_argument(
            "--name", type=_name, default=_DEFAULT_NAME, help="name of the server (default: %(default)s)"
        )
        return added

    start = verb("start", _local_start, "start a server and wait until it is ready; Ctrl-C stops it")
    start.add_argument("--detach", action="store_true", help="return once it is ready and keep it running until 'stop'")
    start.add_argument(
        "--port", type=int, help=f"service port (default: {_BROKER_PORT}, or any free port if that is in use)"
    )
    start.add_argument(
        "--web-port", type=int, help=f"admin port (default: {_WEB_PORT}, or any free port if that is in use)"
    )
    start.add_argument(
        "--data-dir", type=Path, help="folder for data and log, which is kept (default: a temporary folder)"
    )
    known = ", ".join(versions.KNOWN)
    start.add_argument("--server-version", help=f"version of Pulsar: {known} (default: {versions.DEFAULT})")
    start.add_argument("--transactions", action="store_true", help="run the transaction coordinator")
    start.add_argument("--heap", help="Java heap size, such as 512m")
    start.add_argument("--direct", help="size of the off-heap buffers, such as 512m")
    start.add_argument("--java", help="the java command (default: that of JAVA_HOME or PATH)")
    start.add_argument(
        "--config", type=_setting, action="append", default=[], metavar="KEY=VALUE", help="a further broker setting"
    )
    start.add_argument(
        "--ready-seconds", type=float, default=READY_SECONDS, help="limit for the start (default: %(default)g)"
    )
    verb("stop", _local_stop, "stop the server; does nothing if none is running")
    verb("status", _local_status, "show the running server; exit code 3 if there is none")
