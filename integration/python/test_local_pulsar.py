"""`LocalPulsar` with real servers."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pulsar as pulsar_client
import pytest

from pulsar_spark.local import LocalPulsar, LocalPulsarError
from pulsar_spark.local.java import Java
from pulsar_spark.local.metadata import end_session
from pulsar_spark.local.server import METADATA_FOLDER
from pulsar_spark.local.versions import libraries
from support.servers.admin import Admin
from support.servers.local_servers import STOP_SECONDS, alive, environment
from support.spark.waiting import becomes, eventually
from support.topics.messages import Message, Received, produce, read_all
from support.topics.reading import java_client

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

KEPT = "persistent://public/default/kept"
STARTS = int(os.environ.get("PULSAR_SPARK_TEST_STARTS", "1"))


def listens(url: str) -> bool:
    port = int(url.rpartition(":")[2])
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def connect(server: LocalPulsar, folder: Path) -> pulsar_client.Client:
    logger = pulsar_client.FileLogger(pulsar_client.LoggerLevel.Warn, str(folder / "client.log"))
    return pulsar_client.Client(server.service_url, logger=logger, operation_timeout_seconds=180)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalPulsar]:
    """A server for tests that leave it as it is, started by a thread that has ended."""
    server = LocalPulsar(data_dir=tmp_path_factory.mktemp("running") / "data")
    thread = threading.Thread(target=server.start)
    thread.start()
    thread.join()
    assert server.log_file.stat().st_size > 0
    yield server
    server.stop()
    assert server.data_dir.exists(), "a folder that was given stays"


@pytest.mark.exhaustive  # every run of all tests has two servers at once, which would meet each other's topics
def test_two_servers_at_once_do_not_see_each_other(running: LocalPulsar, tmp_path: Path) -> None:
    with LocalPulsar() as other:
        assert running.service_url != other.service_url
        assert running.data_dir != other.data_dir
        client = connect(running, tmp_path)
        produce(client, "persistent://public/default/only-here", [b"x"])
        client.close()
        assert "persistent://public/default/only-here" in Admin(running.admin_url).topics("public/default")
        assert Admin(other.admin_url).topics("public/default") == []


def test_a_server_keeps_all_over_a_kill_and_a_restart_and_is_gone_afterwards(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A client with transactions fails at once while the server has no coordinator for them.

    The session of the killed server is ended first, or its bookie may go on registering and unregistering: writes fail
    for want of bookies now and then.
    """
    api = java_client(spark)
    for _ in range(STARTS):
        with LocalPulsar(transactions=True) as server:
            pid, folder, urls = server.pid, server.data_dir, (server.service_url, server.admin_url)
            assert alive(pid)
            assert all(map(listens, urls))
            with pytest.raises(LocalPulsarError, match="already running"):
                server.start()
            _use_a_transaction(api, server)
            client = connect(server, tmp_path)
            before = _sent(client)
            server.kill()
            assert not server.running
            assert not alive(pid)
            with pytest.raises(LocalPulsarError, match="not running"):
                _ = server.pid
            bookie = f"/ledgers/available/127.0.0.1:{server._ports.bookie}"
            _assert_the_session_can_be_ended(server, bookie)
            of_first = server.log_file.stat().st_size
            server.start()
            assert (server.service_url, server.admin_url) == urls
            assert server.pid != pid
            _use_a_transaction(api, server)
            of_second = server.log_file.read_bytes()[of_first:].decode()
            assert f"Acquired resource lock on {bookie}" in of_second
            assert "was invalidated" not in of_second
            assert read_all(client, KEPT) == before
            server.restart()
            assert read_all(client, KEPT) == before
            produce(client, KEPT, [b"after"])
            after = read_all(client, KEPT)
            client.close()
            pid, begin = server.pid, time.monotonic()
        assert time.monotonic() - begin < STOP_SECONDS
        assert not alive(pid)
        assert not any(map(listens, urls))
        assert not folder.exists()
        assert not server.running
        assert after[:2] == before
        assert [one.payload for one in after] == [b"before", b"plain", b"after"]
        assert after[2].id.ledger > after[1].id.ledger


def _sent(client: pulsar_client.Client) -> list[Received]:
    """Messages of a new topic: what is read of them is what was sent."""
    message = Message(b"before", key="k", event_time_ms=1_700_000_000_123, properties={"a": "b"})
    ids = produce(client, KEPT, [message, b"plain"], batch_size=2, compression="LZ4")
    found = read_all(client, KEPT)
    assert [(one.payload, one.id) for one in found] == list(zip([b"before", b"plain"], ids, strict=True))
    assert (found[0].key, found[0].event_time_ms, found[0].properties) == ("k", 1_700_000_000_123, {"a": "b"})
    assert [one.id.batch for one in found] == [0, 1]
    return found


def _use_a_transaction(api: Any, server: LocalPulsar) -> None:  # noqa: ANN401 - what py4j gives has no type
    client = api.PulsarClient.builder().serviceUrl(server.service_url).enableTransaction(True).build()
    client.newTransaction().build().get().abort().get()
    client.close()


def _assert_the_session_can_be_ended(server: LocalPulsar, bookie: str) -> None:
    """Once, with what belongs to it alone; tried on a copy."""
    java, jars = Java.find(), libraries()
    copy = server.data_dir / "copy"
    shutil.copytree(server.data_dir / METADATA_FOLDER, copy)
    ended = end_session(java, jars, copy)
    assert bookie in ended
    assert not any(path.startswith(("/admin", "/ledgers/cookies", "/managed-ledgers", "/schemas")) for path in ended)
    assert end_session(java, jars, copy) == []


def test_a_failed_start_reports_the_log_and_what_to_do() -> None:
    server = LocalPulsar(config={"managedLedgerDefaultEnsembleSize": "many"})
    with pytest.raises(LocalPulsarError) as error:
        server.start()
    text = str(error.value)
    assert "ended while starting (exit code 1)" in text
    assert "managedLedgerDefaultEnsembleSize" in text
    assert "Look for the first error in the log" in text
    assert str(server.log_file) in text
    assert server.log_file.exists()
    assert max(map(len, text.splitlines())) < 300
    assert not (server.data_dir / "bookie").exists()
    assert not server.running
    shutil.rmtree(server.data_dir)


def test_a_start_that_takes_too_long_is_stopped() -> None:
    server = LocalPulsar(ready_seconds=0.01)
    with pytest.raises(LocalPulsarError, match=r"was not ready within 0\.01 s\. On a busy machine increase"):
        server.start()
    assert not server.running
    shutil.rmtree(server.data_dir)


def test_a_port_or_a_data_folder_in_use_is_rejected(running: LocalPulsar) -> None:
    port = int(running.service_url.rpartition(":")[2])
    with pytest.raises(LocalPulsarError, match=f"port {port} is in use by another process"):
        LocalPulsar(broker_port=port).start()
    with pytest.raises(LocalPulsarError, match="Another server is running on the data folder"):
        LocalPulsar(data_dir=running.data_dir).start()
    assert running.running


def test_a_port_that_is_lost_during_the_start_is_named_as_the_cause() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        server = LocalPulsar(config={"brokerServicePort": str(port)})
        with pytest.raises(LocalPulsarError, match="Another process uses one of the ports"):
            server.start()
    shutil.rmtree(server.data_dir)


def test_a_server_started_by_a_thread_outlives_the_thread(running: LocalPulsar) -> None:
    # Long enough for the end of the thread to reach the server, if it did.
    assert not threading.Event().wait(1)
    assert running.running
    assert Admin(running.admin_url).ready_within(0)


# The demo is ended by Ctrl-C in the gate.
@pytest.mark.parametrize(
    "end",
    [signal.SIGKILL, *(pytest.param(one, marks=pytest.mark.exhaustive) for one in (signal.SIGINT, signal.SIGTERM))],
)
def test_nothing_is_left_of_a_program_that_ends(end: signal.Signals) -> None:
    # A signal right before a read begins would wait for the end of that read, so the program waits in short turns.
    program = """
        import select
        import sys
        from pulsar_spark.local import LocalPulsar
        with LocalPulsar() as server:
            print(server.pid, server.data_dir, flush=True)
            while not select.select([sys.stdin], [], [], 0.1)[0]:
                pass
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment(),
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        pid, folder = process.stdout.readline().split()
        assert alive(int(pid))
        # A Ctrl-C goes to the whole group of processes, as it does in a terminal.
        os.killpg(process.pid, end)
        process.wait(STOP_SECONDS)
    eventually(lambda: not alive(int(pid)))
    eventually(lambda: not Path(folder).exists())


def test_an_interrupted_start_leaves_nothing(tmp_path: Path) -> None:
    program = """
        from pulsar_spark.local import LocalPulsar
        LocalPulsar().start()
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        stderr=subprocess.DEVNULL,
        env={**environment(), "TMPDIR": str(tmp_path)},
    ) as process:
        eventually(lambda: any(tmp_path.glob("pulsar-spark-*/pulsar.log")))
        process.send_signal(signal.SIGINT)
        process.wait(STOP_SECONDS)
    becomes(lambda: list(tmp_path.glob("pulsar-spark-*/pulsar.log")), [])
