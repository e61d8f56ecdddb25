"""The one jar, as it is published: what is in it, what is not, and that Spark finds and loads it."""

from __future__ import annotations

import hashlib
import html
import os
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest

from pulsar_spark._version import __version__
from support.spark.submitting import submit

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
ARTIFACT = "pulsar-spark-connector_2.13"
COORDINATE = f"io.github.pulsar-spark:{ARTIFACT}:{__version__}"
JAR = ROOT / "dist" / f"{ARTIFACT}-{__version__}.jar"
WHEEL = ROOT / "dist" / f"pulsar_spark-{__version__}-py3-none-any.whl"
REPOSITORY = ROOT / "target" / "repo"
STAGED = REPOSITORY / "io" / "github" / "pulsar-spark" / ARTIFACT / __version__

OURS = "io/github/pulsarspark/"
SHADED = OURS + "shaded/"
SERVICES = "META-INF/services/"

# Bound from a native library, which spells the name of the class out.
JNI_CLASSES = {"com/scurrilous/circe/crc/Sse42Crc32C.class"}
JNI_LIBRARIES = {"lib/libcirce-checksum.so"}
NETTY_LIBRARIES = {
    f"META-INF/native/libio_github_pulsarspark_shaded_netty_{library}_{processor}.so"
    for library in ("transport_native_epoll", "tcnative_linux")
    for processor in ("x86_64", "aarch_64")
}
LEGAL = re.compile(r"META-INF/((LICENSE|NOTICE)(_[^/]+)?|license/[^/]+)")

NEWEST_CLASS_VERSION = 61  # Java 17


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def made(path: Path, command: str) -> Path:
    assert path.exists(), f"{path.relative_to(ROOT)} is missing, run: {command}"
    return path


@pytest.fixture(scope="module")
def jar() -> Iterator[ZipFile]:
    with ZipFile(made(JAR, "make jar")) as opened:
        yield opened


@pytest.fixture(scope="module")
def names(jar: ZipFile) -> list[str]:
    return [name for name in jar.namelist() if not name.endswith("/")]


def test_nothing_lives_outside_our_package(names: list[str]) -> None:
    known = JNI_CLASSES | JNI_LIBRARIES | NETTY_LIBRARIES | {"META-INF/MANIFEST.MF"}
    stray = [n for n in names if not n.startswith((OURS, SERVICES)) and n not in known and not LEGAL.fullmatch(n)]
    assert stray == []


def test_no_path_is_there_twice(names: list[str]) -> None:
    assert len(names) == len(set(names))


def original_names(packages: set[str]) -> re.Pattern[bytes]:
    """Finds class names as a constant pool holds them: as a text (tag, two length bytes) or in a descriptor."""
    return re.compile(b"(?s:\\x01..|L)(" + "|".join(sorted(packages)).encode() + b")/")


def test_no_class_refers_to_a_library_by_its_original_name(jar: ZipFile, names: list[str]) -> None:
    relocated = {"/".join(n.removeprefix(SHADED).split("/")[:3]) for n in names if n.startswith(SHADED)}
    pattern = original_names({package for package in relocated if "." not in package})
    guilty = set()
    for name in (n for n in names if n.endswith(".class")):
        code = jar.read(name)
        for exception in JNI_CLASSES:
            code = code.replace(exception.removesuffix(".class").encode(), b"")
        if found := pattern.search(code):
            guilty.add((name, found.group(1).decode()))
    assert guilty == set()


@pytest.mark.parametrize("text", [b"\x01\x00\x16org/apache/avro/Schema", b"(Lorg/apache/avro/Schema;)V"])
def test_an_original_name_would_be_found(text: bytes) -> None:
    pattern = original_names({"org/apache/avro"})
    assert pattern.search(text)
    assert not pattern.search(text.replace(b"org/", SHADED.encode() + b"org/"))


def test_every_relocated_class_we_use_is_there(jar: ZipFile, names: list[str]) -> None:
    present = set(names)
    used = re.compile(rf"L?({SHADED}[\w/$]+)".encode())
    own = [n for n in names if n.startswith(OURS) and not n.startswith(SHADED) and n.endswith(".class")]
    wanted = {found.decode() + ".class" for name in own for found in used.findall(jar.read(name))}
    assert own
    assert wanted - present == set()


def test_no_logging_implementation(names: list[str]) -> None:
    logging = re.compile(
        r"(org/slf4j|org/apache/log(4j|ging)|ch/qos/logback)/|(^|/)(log4j2?|logback)[^/]*\.(xml|properties)$"
    )
    assert [n for n in names if logging.search(n)] == []


def test_native_libraries_are_where_netty_looks(names: list[str]) -> None:
    assert {n for n in names if n.endswith((".so", ".jnilib", ".dylib", ".dll"))} == NETTY_LIBRARIES | JNI_LIBRARIES


def test_no_signatures_and_no_second_versions_of_classes(names: list[str]) -> None:
    assert [n for n in names if re.fullmatch(r"META-INF/.*\.(SF|DSA|RSA|EC)", n, re.IGNORECASE)] == []
    assert [n for n in names if n.startswith("META-INF/versions/") or n.endswith("module-info.class")] == []


def test_classes_run_on_java_17(jar: ZipFile, names: list[str]) -> None:
    def version(name: str) -> int:
        with jar.open(name) as stream:
            return int.from_bytes(stream.read(8)[6:8], "big")

    assert max(version(n) for n in names if n.endswith(".class")) <= NEWEST_CLASS_VERSION


def test_services_name_classes_of_this_jar(jar: ZipFile, names: list[str]) -> None:
    present = set(names)
    spark = SERVICES + "org.apache.spark.sql.sources.DataSourceRegister"
    files = [n for n in names if n.startswith(SERVICES)]
    hadoop = SERVICES + "org.apache.hadoop.fs.FileSystem"
    assert [n for n in files if not n.startswith(SERVICES + "io.github.pulsarspark.")] == [hadoop, spark]
    for file in files:
        lines = [line.strip() for line in jar.read(file).decode().splitlines()]
        providers = [line for line in lines if line and not line.startswith("#")]
        assert [p for p in providers if p.replace(".", "/") + ".class" not in present] == []
    names_of_sources = {f"io.github.pulsarspark.{name}TableProvider" for name in ("Pulsar", "PulsarSpark")}
    assert set(jar.read(spark).decode().split()) == names_of_sources


def test_async_http_client_finds_its_defaults(jar: ZipFile) -> None:
    text = jar.read(SHADED + "org/asynchttpclient/config/ahc-default.properties").decode()
    keys = [line.split("=")[0] for line in text.splitlines() if "=" in line]
    assert keys
    assert [k for k in keys if not k.startswith("io.github.pulsarspark.shaded.org.asynchttpclient.")] == []


def test_licence_and_notice_are_ours(jar: ZipFile) -> None:
    assert jar.read("META-INF/LICENSE") == (ROOT / "LICENSE").read_bytes()
    assert jar.read("META-INF/NOTICE") == (ROOT / "NOTICE").read_bytes()


def test_pom_asks_for_nothing_more() -> None:
    pom = ElementTree.parse(made(STAGED / f"{ARTIFACT}-{__version__}.pom", "make jar")).getroot()
    elements = {element.tag.split("}")[-1] for element in pom}
    assert elements.isdisjoint({"dependencies", "dependencyManagement", "repositories", "parent"})
    assert digest((STAGED / JAR.name).read_bytes()) == digest(JAR.read_bytes())


def test_wheel_holds_the_package_and_the_jar() -> None:
    with ZipFile(made(WHEEL, "make wheel")) as wheel:
        names = wheel.namelist()
        info = f"pulsar_spark-{__version__}.dist-info/"
        outside = [n for n in names if not n.startswith(("pulsar_spark/", info))]
        assert outside == ["pytest_pulsar_spark.py"]
        assert [n for n in names if n.endswith(".jar")] == [f"pulsar_spark/jars/{JAR.name}"]
        assert digest(wheel.read(f"pulsar_spark/jars/{JAR.name}")) == digest(JAR.read_bytes())
        wanted = {"py.typed", "__init__.py", "local/metadata/EphemeralNodes.java"}
        assert {*(f"pulsar_spark/{name}" for name in wanted), info + "licenses/LICENSE"} <= set(names)
        metadata = wheel.read(info + "METADATA").decode()
        assert f"\nVersion: {__version__}\n" in metadata
        required = re.findall(r"^Requires-Dist: ([^ ;]+) *;? *(.*)$", metadata, re.MULTILINE)
        assert [name for name, rest in required if "extra ==" not in rest] == []
        for extra, name in (("spark", "pyspark<4.4,>=4.0"), ("connect", "pyspark[connect]<4.4,>=4.0")):
            assert (name, f"extra == '{extra}'") in required
        assert "\nRequires-Python: >=3.10\n" in metadata
        entry_points = wheel.read(info + "entry_points.txt").decode()
        assert "pulsar-spark = pulsar_spark.cli:main" in entry_points
        assert "[pytest11]\npulsar_spark = pytest_pulsar_spark\n" in entry_points


def pip(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--no-deps"]
    return subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=600, check=False)


def test_the_wheel_works_without_pyspark(tmp_path: Path) -> None:
    done = pip("--target", tmp_path / "site", made(WHEEL, "make wheel"))
    assert done.returncode == 0, done.stderr

    def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path / "site"), "HOME": str(tmp_path)}
        # without the site packages of this Python, which have a PySpark
        command = [sys.executable, "-S", *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)

    command = tmp_path / "site" / "bin" / "pulsar-spark"
    assert run(command, "--version").stdout == f"pulsar-spark {__version__}\n"
    assert run(command, "options", "failOnDataLoss").returncode == 0
    assert run(command, "local", "status").returncode == 3
    last = run("-c", "from pulsar_spark import session").stderr.splitlines()[-1]
    assert re.search(r"PulsarImportError: .* there is none\. .*pip install 'pulsar-spark\[spark\]'", last)
    assert run("-c", "import pulsar_spark; print(pulsar_spark.jar_path())").stdout.endswith(f"{JAR.name}\n")


def test_an_older_python_does_not_install_the_wheel(tmp_path: Path) -> None:
    """The index has what registries have: the requirement of the wheel's metadata beside its link."""
    page = tmp_path / "simple" / "pulsar-spark" / "index.html"
    page.parent.mkdir(parents=True)
    with ZipFile(made(WHEEL, "make wheel")) as wheel:
        metadata = wheel.read(f"pulsar_spark-{__version__}.dist-info/METADATA").decode()
    (required,) = re.findall("^Requires-Python: (.*)$", metadata, re.MULTILINE)
    page.write_text(f'<a href="{WHEEL.as_uri()}" data-requires-python="{html.escape(required)}">{WHEEL.name}</a>')

    def installed(python: str) -> subprocess.CompletedProcess[str]:
        other = ["--python-version", python, "--only-binary", ":all:", "--target", str(tmp_path / "site"), "--dry-run"]
        return pip("--index-url", page.parent.parent.as_uri(), *other, "pulsar-spark")

    old = installed("3.9")
    assert old.returncode != 0
    assert f"require a different python version: {__version__} Requires-Python >=3.10" in old.stderr
    assert installed("3.10").returncode == 0


def ivy_settings(folder: Path, repository: Path) -> Path:
    """Settings of Ivy with one Maven repository on this machine."""
    file = folder / f"{repository.name}.xml"
    file.write_text(
        '<ivysettings><settings defaultResolver="staged"/><resolvers>'
        f'<ibiblio name="staged" m2compatible="true" usepoms="true" root="{repository.as_uri()}/"/>'
        "</resolvers></ivysettings>"
    )
    return file


RESOLVED = """
import pulsar_spark
spark = pulsar_spark.session()
print("JARS", spark.conf.get("spark.jars"))
try:
    spark.read.format("pulsar").load()
except Exception as error:
    print("ANSWER", *str(error).split())
spark.stop()
"""


def answers(tmp_path: Path, settings: Path, *more: str) -> None:
    """Spark finds, loads and calls the data source, which reports that no server is named."""
    ivy = [f"spark.jars.ivySettings={settings}", f"spark.jars.ivy={tmp_path / 'ivy'}"]
    options = [word for setting in ivy for word in ("--conf", setting)]
    said = submit(RESOLVED, ["--master", "local[1]", "--packages", COORDINATE, *more, *options], tmp_path)
    jars = re.findall("^JARS (.*)$", said, re.MULTILINE)
    answer = re.findall("^ANSWER (.*)$", said, re.MULTILINE)
    assert len(answer) == 1, said
    assert "service.url" in answer[0]
    # the session adds no second jar to the one of --packages
    assert [jar.count(ARTIFACT) for jar in jars] == [1], jars
    assert str(tmp_path / "ivy") in jars[0]


def commands(program: str) -> list[list[str]]:
    """What the README's part about installation calls a program with."""
    part = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## Install\n")[2].partition("\n## ")[0]
    return [shlex.split(words.replace("$PWD", str(ROOT))) for words in re.findall(f"`{program} ([^`]*)`", part)]


def test_the_readme_installs_the_files_that_a_build_makes() -> None:
    assert commands("make") == [["jar", "wheel"]]
    ((verb, wheel),) = commands("pip")
    file, extra = wheel.removesuffix("]").split("[")
    assert (verb, ROOT / file) == ("install", made(WHEEL, "make wheel"))
    with ZipFile(WHEEL) as opened:
        metadata = opened.read(f"pulsar_spark-{__version__}.dist-info/METADATA").decode()
    assert f"\nProvides-Extra: {extra}\n" in metadata
    jars = [words[1] for words in commands("spark-shell") if words[0] == "--jars"]
    assert [ROOT / jar for jar in jars] == [made(JAR, "make jar")]


def test_spark_finds_the_artifact_by_the_coordinate_of_the_readme(tmp_path: Path) -> None:
    """No other repository has it, so that the named one is used."""
    ((packages, coordinate, *repositories),) = [words for words in commands("spark-shell") if "--packages" in words]
    assert (packages, coordinate) == ("--packages", COORDINATE)
    answers(tmp_path, ivy_settings(tmp_path, tmp_path / "nothing"), *repositories)


@pytest.mark.exhaustive
def test_spark_finds_the_artifact_in_a_cache_of_ivy(tmp_path: Path) -> None:
    answers(tmp_path, ivy_settings(tmp_path, REPOSITORY))
    answers(tmp_path, ivy_settings(tmp_path, tmp_path / "gone"))
