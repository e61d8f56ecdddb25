"""Secrets: a job that has them works, and they are seen nowhere.

One program does everything that a job with secrets can do, in a Spark of its own with every log on; afterwards all that
it left, from the log to the checkpoint, is searched for each secret.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pulsar_spark._tables import option_table
from support.servers.auth_server import PLUGIN

if TYPE_CHECKING:
    from support.servers.auth_server import AuthServer
    from support.servers.issuer import Issuer

PROGRAM = Path(__file__).with_name("secret_job.py")
PROGRAM_SECONDS = 900
LOG_SETTINGS = """
rootLogger.level = info
rootLogger.appenderRef.file.ref = file
logger.connector.name = io.github.pulsarspark
logger.connector.level = debug
appender.file.type = File
appender.file.name = file
appender.file.fileName = {log}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %p %c %m%n%ex
"""


class Leaks:
    """What the program left, and where a text is found in it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def places(self, text: str) -> list[str]:
        forms = [text.encode(), base64.b64encode(text.encode()).rstrip(b"=")]
        files = [file for file in self._folder.rglob("*") if file.is_file()]
        return sorted(
            str(file.relative_to(self._folder))
            for file in files
            if any(form in (content := file.read_bytes()) for form in forms) and content
        )


ISSUER = "<the issuer that runs>"
# Every option that may hold a secret, with what must stand beside it. {} is where the secret goes.
SECRET_OPTIONS = {
    "basic": {"auth.basic.userId": "me", "auth.basic.password": "{}"},
    "oauth2": {"auth.oauth2.issuerUrl": "http://127.0.0.1:1", "auth.oauth2.credentialsUrl": "file:///{}"},
    "oauth2-data": {
        "auth.oauth2.issuerUrl": "http://127.0.0.1:1",
        "auth.oauth2.credentialsUrl": 'data:application/json;base64,{"client_secret":"{}"}',
    },
    "oauth2-no-file": {"auth.oauth2.issuerUrl": ISSUER, "auth.oauth2.credentialsUrl": "file:///{}"},
    "oauth2-bad-data": {
        "auth.oauth2.issuerUrl": ISSUER,
        "auth.oauth2.credentialsUrl": 'data:application/json,{"client_secret":"{}",}',
    },
    "oauth2-wrong": {
        "auth.oauth2.issuerUrl": ISSUER,
        "auth.oauth2.credentialsUrl": 'data:application/json,{"client_id":"me","client_secret":"{}"}',
    },
    "plugin": {"pulsar.client.authPluginClassName": f"{PLUGIN}AuthenticationToken", "pulsar.client.authParams": "{}"},
    "plugin-oauth2": {
        "pulsar.client.authPluginClassName": f"{PLUGIN}oauth2.AuthenticationOAuth2",
        "pulsar.client.authParams": f'{{"issuerUrl": "{ISSUER}", "privateKey": "data:application/json,{{}}"}}',
    },
    "plugin-json": {
        "pulsar.client.authPluginClassName": f"{PLUGIN}AuthenticationBasic",
        "pulsar.client.authParams": '{"userId": "me", "password": "{}"}',
    },
    "admin-plugin": {
        "admin.url": "http://127.0.0.1:1",
        "admin.auth.pluginClassName": f"{PLUGIN}AuthenticationToken",
        "admin.auth.params": "{}",
    },
    "unknown-plugin": {"pulsar.client.authPluginClassName": "no.such.Plugin", "pulsar.client.authParams": "{}"},
    "key-store": {
        "pulsar.client.useKeyStoreTls": "true",
        "pulsar.client.tlsKeyStorePath": __file__,
        "pulsar.client.tlsKeyStorePassword": "{}",
    },
    "trust-store": {
        "pulsar.client.useKeyStoreTls": "true",
        "pulsar.client.tlsTrustStorePath": __file__,
        "pulsar.client.tlsTrustStorePassword": "{}",
    },
    "proxy": {
        "pulsar.client.socks5ProxyAddress": "127.0.0.1:1",
        "pulsar.client.socks5ProxyUsername": "me",
        "pulsar.client.socks5ProxyPassword": "{}",
    },
    "wrong-type": {"pulsar.client.connectionTimeoutMs": "{}"},
    "wrong-count": {"pulsar.client.numIoThreads": "{}"},
    "wrong-structure": {"pulsar.client.tlsCiphers": "[{}"},
    "conflict": {"auth.token": "{}", "auth.tokenFile": "/no/such/file"},
    "incomplete": {"auth.basic.password": "{}"},
}

# A catalog refuses them: Spark would show their secrets.
REFUSED = ("basic", "oauth2-data", "plugin", "plugin-oauth2", "plugin-json", "admin-plugin")


@pytest.fixture(scope="module")
def canaries() -> dict[str, str]:
    return {name: f"canary{number:02}{secrets.token_hex(8)}" for number, name in enumerate(SECRET_OPTIONS)}


@pytest.fixture(scope="module")
def working(auth_server: AuthServer, issuer: Issuer) -> dict[str, dict[str, str]]:
    """Options of jobs that work, some with secrets that nothing asks for."""
    plugin = {"pulsar.client.authPluginClassName": f"{PLUGIN}AuthenticationToken"}
    stores = ("tlsKeyStore", "tlsTrustStore")
    # Switched on, the statistics of the client write its configuration to the log. To the client the parameters of the
    # plug-in for TLS are no secret, so they are in a job without statistics.
    statistics = {"pulsar.client.statsIntervalSeconds": "1"}
    return {
        "token": {**statistics, "auth.token": auth_server.token("admin")},
        "plugin": {**statistics, **plugin, "pulsar.client.authParams": f"token:{auth_server.token('admin')}"},
        "plugin-bare": {
            **plugin,
            "pulsar.client.authParams": auth_server.token("admin"),
            "pulsar.client.sslFactoryPlugin": "org.apache.pulsar.common.util.DefaultPulsarSslFactory",
            "pulsar.client.sslFactoryPluginParams": f"canary{secrets.token_hex(8)}",
        },
        "admin": {
            "auth.token": auth_server.token("admin"),
            "admin.url": auth_server.server.admin_url,
            "admin.auth.pluginClassName": f"{PLUGIN}AuthenticationToken",
            "admin.auth.params": auth_server.token("admin"),
        },
        "passwords": {
            **statistics,
            "auth.token": auth_server.token("admin"),
            "pulsar.client.useKeyStoreTls": "true",
            **{f"pulsar.client.{name}Path": __file__ for name in stores},
            **{f"pulsar.client.{name}Password": f"canary{secrets.token_hex(8)}" for name in stores},
        },
        "oauth2": {**statistics, **issuer.typed(issuer.key_data())},
        "oauth2-plugin": {**statistics, **issuer.plugin(issuer.key_data())},
    }


@pytest.fixture(scope="module")
def left(
    auth_server: AuthServer,
    issuer: Issuer,
    protected_topic: str,
    working: dict[str, dict[str, str]],
    canaries: dict[str, str],
    connector_jar: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """Run the program once; return the folder with all that it left."""
    folder = tmp_path_factory.mktemp("left")
    (folder / "events").mkdir()
    settings = tmp_path_factory.mktemp("settings") / "log4j2.properties"
    settings.write_text(LOG_SETTINGS.format(log=folder / "spark.log"))
    tries = [
        {key: value.replace("{}", canaries[name]).replace(ISSUER, issuer.url) for key, value in options.items()}
        for name, options in SECRET_OPTIONS.items()
    ]
    wrong = {"auth.token": auth_server.wrong_token()}
    url = {"service.url": auth_server.server.service_url}
    task = {
        "folder": str(folder),
        "service.url": auth_server.server.service_url,
        "topic": protected_topic,
        "works": list(working.values()),
        "tries": [*tries, wrong],
        "catalogs": {f"c{number}": {**url, **working[name]} for number, name in enumerate(("token", "passwords"))},
        "refused": [{**url, **tries[list(SECRET_OPTIONS).index(name)]} for name in REFUSED],
    }
    submit = [
        *("--master", "local[2]", "--driver-memory", "800m", "--jars", str(connector_jar)),
        *("--conf", "spark.ui.enabled=false", "--conf", "spark.ui.showConsoleProgress=false"),
        *(
            "--conf",
            "spark.eventLog.enabled=true",
            "--conf",
            "spark.eventLog.compress=false",
            "--conf",
            f"spark.eventLog.dir={(folder / 'events').as_uri()}",
        ),
        *("--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.driver.bindAddress=127.0.0.1"),
        *("--conf", f"spark.driver.extraJavaOptions=-Dlog4j2.configurationFile={settings.as_uri()}"),
        "pyspark-shell",
    ]
    environment = {**os.environ, "PYSPARK_SUBMIT_ARGS": " ".join(submit), "PYTHONPATH": os.pathsep.join(sys.path)}
    with (folder / "output.txt").open("wb") as output:
        done = subprocess.run(
            [sys.executable, PROGRAM],
            input=json.dumps(task).encode(),
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=folder,
            timeout=PROGRAM_SECONDS,
            check=False,
        )
    assert done.returncode == 0, (folder / "output.txt").read_text()[-4000:]
    return folder


def test_the_job_succeeds_and_leaves_logs_to_search(
    left: Path, protected_topic: str, working: dict[str, dict[str, str]]
) -> None:
    """Also the control: what is no secret is found everywhere."""
    result = json.loads((left / "result.json").read_text())
    assert result["rows"] == [12 + 2 * before for before in range(len(working))]
    assert result["progress"] == [1] * len(working)
    assert len(result["errors"]) == len(SECRET_OPTIONS) + 1
    assert result["catalogs"] == ["worked", "worked"]
    assert result["refused"] == ["[PULSAR_SETTING_SECRET]"] * len(REFUSED)
    places = Leaks(left).places(protected_topic.rpartition("/")[2])  # offsets write the namespace once, for many topics
    job = "work-0/explain-read.txt", "work-0/explain-join.txt", "work-0/progress.txt", "work-0/checkpoint/"
    for sign in ("spark.log", "events/", "try-0.plan.txt", "try-0.errors.txt", "c1.catalog.txt", *job):
        assert any(place.startswith(sign) for place in places), (sign, places)
    assert Leaks(left).places(base64.b64encode(protected_topic.encode()).decode()) == []
    log = (left / "spark.log").read_text()
    assert "DEBUG io.github.pulsarspark." in log
    assert "INFO org.apache.spark." in log


def test_every_option_that_is_a_secret_has_a_case(working: dict[str, dict[str, str]]) -> None:
    tried = {option for options in (*SECRET_OPTIONS.values(), *working.values()) for option in options}
    assert {option.key for option in option_table().options if option.secret} <= tried


def test_every_try_with_a_secret_ended_in_a_named_error_or_worked(left: Path) -> None:
    errors = json.loads((left / "result.json").read_text())["errors"]
    assert [text for texts in errors for text in texts if not text.startswith(("[PULSAR_", "worked"))] == []


@pytest.mark.parametrize("name", SECRET_OPTIONS)
def test_a_secret_is_seen_nowhere(left: Path, canaries: dict[str, str], name: str) -> None:
    assert Leaks(left).places(canaries[name]) == []


@pytest.mark.parametrize("name", ["token", "plugin", "plugin-bare", "passwords", "oauth2", "oauth2-plugin"])
def test_a_secret_of_a_job_that_works_is_seen_nowhere(
    left: Path, working: dict[str, dict[str, str]], name: str
) -> None:
    for option, secret in working[name].items():
        if not option.endswith(
            ("ClassName", "Plugin", "Path", "KeyStoreTls", "Seconds", "issuerUrl", "audience", "scope")
        ):
            assert Leaks(left).places(secret) == [], option
            assert Leaks(left).places(secret.rsplit(".", 1)[-1]) == [], option


def test_a_wrong_token_is_seen_nowhere(left: Path, auth_server: AuthServer) -> None:
    assert Leaks(left).places(auth_server.wrong_token().rsplit(".", 1)[1]) == []


def test_secrets_and_tokens_of_an_issuer_are_not_logged(left: Path, issuer: Issuer) -> None:
    assert len(issuer.given) > 1
    for secret in (issuer.secret, issuer.key_file(), *issuer.given):
        assert Leaks(left).places(secret) == []
        assert Leaks(left).places(secret.rsplit(".", 1)[-1]) == []
