"""The local Pulsar as far as it needs no server: configuration, Java, ports, locks, and the life of its process."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import pulsar_spark
from pulsar_spark.local import LocalPulsar, LocalPulsarError, maven
from pulsar_spark.local.metadata import end_session
from pulsar_spark.local.process import FileLock, InUseError, Port, ServerProcess, is_locked
from pulsar_spark.local.pulsar import log_tail
from pulsar_spark.local.server import SMALL, Java, Launch, Ports, ServerUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable

PORTS = Ports(broker=20001, web=20002, bookie=20003)

JAVA_17 = """\
Property settings:
    java.specification.version = 17
    java.vendor = Somebody
    java.vm.version = 17.0.15+6
openjdk version "17.0.15" 2025-04-15
"""


def eventually(condition: Callable[[], bool], *, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "not within the deadline"
        time.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    # A zombie whose new parent does not collect it has ended all the same.
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"


def launch(folder: Path, **config: str) -> Launch:
    return Launch(folder, PORTS, SMALL, config)


def settings(text: str) -> dict[str, str]:
    pairs = (line.partition("=") for line in text.splitlines())
    return {key: value for key, _, value in pairs}


def test_the_configuration_holds_ports_and_keeps_everything(tmp_path: Path) -> None:
    found = settings(launch(tmp_path).config_text())
    assert found["brokerServicePort"] == "20001"
    assert found["webServicePort"] == "20002"
    assert found["bindAddress"] == found["advertisedAddress"] == "127.0.0.1"
    assert found["listeningInterface"] in ("lo", "lo0")
    assert found["defaultRetentionTimeInMinutes"] == found["defaultRetentionSizeInMB"] == "-1"
    assert found["brokerDeleteInactiveTopicsEnabled"] == found["backlogQuotaCheckEnabled"] == "false"
    assert found["allowAutoTopicCreation"] == "true"


def test_given_settings_go_before_all_others(tmp_path: Path) -> None:
    found = settings(launch(tmp_path, managedLedgerCacheSizeMB="7", brokerServicePort="1", own="a=b").config_text())
    assert (found["managedLedgerCacheSizeMB"], found["brokerServicePort"], found["own"]) == ("7", "1", "a=b")


def test_a_backslash_survives_the_properties_format(tmp_path: Path) -> None:
    assert "own=a\\\\b\n" in launch(tmp_path, own="a\\b").config_text()


@pytest.mark.parametrize(("key", "value"), [("two words", "x"), ("a=b", "x"), ("", "x"), ("key", "x\ninjected=1")])
def test_a_setting_that_would_break_the_file_is_refused(tmp_path: Path, key: str, value: str) -> None:
    with pytest.raises(ValueError, match="cannot be written"):
        Launch(tmp_path, PORTS, SMALL, {key: value}).config_text()


def test_the_command_line_names_every_jar_in_a_stable_order(tmp_path: Path) -> None:
    folder, jars = tmp_path / 'a "strange" folder', tmp_path / "lib"
    folder.mkdir()
    jars.mkdir()
    for name in ("b.jar", "a.jar", "c.txt"):
        (jars / name).touch()
    java = Java("/opt/java", 17, "any")
    assert launch(folder).command(java, jars, class_data=("-Xfirst",)) == ["/opt/java", f"@{folder / 'java.args'}"]
    lines = (folder / "java.args").read_text().splitlines()
    assert f'"{jars / "a.jar"}:{jars / "b.jar"}"' in lines
    assert '"-Xfirst"' in lines
    assert '"-Xmx256m"' in lines
    assert lines[lines.index('"--bookkeeper-port"') + 1] == '"20003"'
    assert any(line.endswith('a \\"strange\\" folder/metadata"') for line in lines)
    assert not any("sun-misc-unsafe" in line for line in lines)


def test_a_newer_java_is_told_what_it_warns_about(tmp_path: Path) -> None:
    launch(tmp_path).command(Java("java", 25, "any"), tmp_path, class_data=())
    assert '"--sun-misc-unsafe-memory-access=allow"' in (tmp_path / "java.args").read_text().splitlines()


def fake_java(folder: Path, said: str, code: int = 0) -> str:
    file = folder / "java"
    file.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{said}END\nexit {code}\n")
    file.chmod(0o755)
    return str(file)


def test_java_is_asked_for_its_version(tmp_path: Path) -> None:
    command = fake_java(tmp_path, JAVA_17)
    assert Java.find(command) == Java(command, 17, "Somebody 17.0.15+6")


@pytest.mark.parametrize("version", ["1.8", "11"])
def test_an_old_java_is_refused(tmp_path: Path, version: str) -> None:
    with pytest.raises(ServerUnavailableError, match=rf"is Java {version}, .* needs 17 or newer. Install a JDK 17"):
        Java.find(fake_java(tmp_path, JAVA_17.replace("= 17", f"= {version}")))


def test_without_java_the_start_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(LocalPulsarError, match="Install a JDK 17"):
        LocalPulsar().start()


def test_a_java_that_does_not_run_is_named(tmp_path: Path) -> None:
    file = fake_java(tmp_path, "", code=3)
    with pytest.raises(LocalPulsarError, match=f"{file} does not run"):
        LocalPulsar(java=str(file)).start()


def test_a_failed_download_is_a_clear_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def no_network(*_: object, **__: object) -> Path:
        raise maven.FetchError("The registry is away.")

    monkeypatch.setenv(maven.CACHE_VARIABLE, str(tmp_path))
    monkeypatch.setattr(maven, "fetch", no_network)
    with pytest.raises(LocalPulsarError, match=r"could not be downloaded\. The registry is away\."):
        LocalPulsar(java=fake_java(tmp_path, JAVA_17)).start()
    assert not any((tmp_path / "server").glob(".unpack-*"))


def test_before_the_start_there_is_no_address() -> None:
    server = LocalPulsar()
    assert not server.running
    for read in (
        lambda: server.service_url,
        lambda: server.admin_url,
        lambda: server.data_dir,
        lambda: server.log_file,
    ):
        with pytest.raises(LocalPulsarError, match=r"call start\(\)"):
            read()
    with pytest.raises(LocalPulsarError, match="not running"):
        _ = server.pid
    with pytest.raises(LocalPulsarError, match="cannot be restarted"):
        server.restart()
    server.stop()


def test_the_log_tail_is_short_and_narrow(tmp_path: Path) -> None:
    file = tmp_path / "log"
    assert log_tail(file) == "  (no log was written)"
    file.write_text("".join(f"line {number} {'x' * 20_000}\n" for number in range(100)))
    lines = log_tail(file).splitlines()
    assert max(map(len, lines)) <= 222
    assert lines[-1].startswith("  line 99 ")
    file.write_text("only\n")
    assert log_tail(file) == "  only"


def test_a_port_is_given_to_one_only() -> None:
    first, second = Port.reserve(), Port.reserve()
    try:
        assert first.number != second.number
        with pytest.raises(InUseError, match=f"port {first.number} is in use"):
            Port.reserve(first.number)
    finally:
        first.close()
        second.close()
    again = Port.reserve(first.number)
    assert again.number == first.number
    again.close()


def test_a_port_somebody_listens_on_is_not_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        number = listener.getsockname()[1]
        with pytest.raises(InUseError, match=f"port {number} is in use"):
            Port.reserve(number)
        with pytest.raises(LocalPulsarError, match=f"port {number} is in use by another process. Choose another"):
            LocalPulsar(broker_port=number)._reserve_ports()


def test_a_lock_is_exclusive_and_seen_from_outside(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    assert not is_locked(file)
    with FileLock(file):
        assert is_locked(file)
        with pytest.raises(InUseError, match="locked by another process"):
            FileLock(file, patience_seconds=0)
    assert not is_locked(file)


def supervised(folder: Path, command: list[str], *, discard: bool = False) -> ServerProcess:
    with FileLock(folder / "lock") as lock:
        return ServerProcess.supervised(command, folder=folder, log=folder / "log", lock=lock, discard=discard)


def test_a_process_holds_the_lock_until_it_is_stopped(tmp_path: Path) -> None:
    process = supervised(tmp_path, ["sleep", "600"])
    assert alive(process.pid)
    assert is_locked(tmp_path / "lock")
    process.stop(10)
    assert not process.running
    assert not is_locked(tmp_path / "lock")
    assert process.exit_code == 128 + signal.SIGTERM
    process.stop(10)


def test_a_process_that_does_not_listen_is_killed(tmp_path: Path) -> None:
    process = supervised(tmp_path, ["sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 0.05; done"])
    eventually(lambda: "deaf" in (tmp_path / "log").read_text())
    process.stop(0.2)
    assert process.exit_code == 128 + signal.SIGKILL


def test_a_process_that_ends_by_itself_gives_its_code_and_its_words(tmp_path: Path) -> None:
    process = supervised(tmp_path, ["sh", "-c", "echo hello; exit 7"])
    eventually(lambda: not process.running)
    assert process.exit_code == 7
    assert (tmp_path / "log").read_text() == "hello\n"


def test_a_command_that_cannot_start_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="the supervisor of /nowhere/java ended with code"):
        supervised(tmp_path, ["/nowhere/java"])
    assert "No such file" in (tmp_path / "log").read_text()


def test_a_process_started_by_a_thread_outlives_the_thread(tmp_path: Path) -> None:
    started: list[ServerProcess] = []
    thread = threading.Thread(target=lambda: started.append(supervised(tmp_path, ["sleep", "600"])))
    thread.start()
    thread.join()
    process = started[0]
    # Twice the time in which the supervisor looks after its owner.
    watch = threading.Event()
    assert not watch.wait(0.5)
    assert process.running
    process.kill()
    assert process.exit_code == 128 + signal.SIGKILL


def owner(folder: Path) -> subprocess.Popen[str]:
    """A Python process that owns a supervised ``sleep``, writes its two process ids and waits."""
    program = f"""
        import sys
        from pathlib import Path
        from pulsar_spark.local.process import FileLock, ServerProcess
        folder = Path({str(folder)!r})
        with FileLock(folder / "lock") as lock:
            server = ServerProcess.supervised(
                ["sleep", "600"], folder=folder, log=folder / "log", lock=lock, discard=True
            )
        print(server.pid, server.child.pid, flush=True)
        sys.stdin.read()
    """
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(pulsar_spark.__file__).parents[1])},
    )


def test_nothing_is_left_when_the_owner_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "server"
    folder.mkdir()
    with owner(folder) as process:
        assert process.stdout is not None
        server, supervisor = map(int, process.stdout.readline().split())
        assert alive(server)
        process.kill()
    eventually(lambda: not alive(server) and not alive(supervisor))
    eventually(lambda: not folder.exists())


def test_nothing_is_left_when_the_supervisor_is_killed(tmp_path: Path) -> None:
    with owner(tmp_path) as process:
        assert process.stdout is not None
        server, supervisor = map(int, process.stdout.readline().split())
        os.kill(supervisor, signal.SIGKILL)
        eventually(lambda: not alive(server))
        process.kill()


def test_a_detached_process_is_seen_and_stopped_by_others(tmp_path: Path) -> None:
    with FileLock(tmp_path / "lock") as lock:
        process = ServerProcess.detached(["sleep", "600"], folder=tmp_path, log=tmp_path / "log", lock=lock)
    seen = ServerProcess(process.pid, tmp_path / "lock")
    assert (seen.running, seen.exit_code) == (True, None)
    seen.stop(10)
    assert not seen.running
    assert process.exit_code == 128 + signal.SIGTERM


def test_a_session_that_cannot_be_ended_is_said_and_hinders_no_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    java = Java(fake_java(tmp_path, "no compiler\n", code=1), 17, "none")
    assert end_session(java, tmp_path, tmp_path / "missing") == []
    assert not caplog.messages
    assert end_session(java, tmp_path, tmp_path) == []
    assert [f"could not be ended in {tmp_path}: no compiler" in message for message in caplog.messages] == [True]
