"""The connector's jar, which is part of this package, and its Maven coordinate. Needs no Spark."""

from __future__ import annotations

import atexit
from contextlib import ExitStack
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile, ZipFile

from pulsar_spark._version import __version__
from pulsar_spark.errors import PulsarSetupError

if TYPE_CHECKING:
    from importlib.abc import Traversable

_GROUP = "io.github.pulsar-spark"
_ARTIFACT = "pulsar-spark-connector_2.13"
_CLASS = "io/github/pulsarspark/PulsarTableProvider.class"


def maven_coordinate() -> str:
    """The connector's Maven coordinate, for ``spark.jars.packages`` or ``spark-submit --packages``.

    Returns:
        ``group:artifact:version``.

    Examples:
        >>> maven_coordinate()
        'io.github.pulsar-spark:pulsar-spark-connector_2.13:0.1.0'
    """
    return f"{_GROUP}:{_ARTIFACT}:{__version__}"


def is_connector(part: str) -> bool:
    """True if a Maven coordinate or the address of a jar is the connector's.

    streamnative/pulsar-spark has the same artifact and names its jar the same, so the group counts, and of a file what
    is in it. A jar that cannot be opened here, such as one on an object store, counts by the version in its name.
    """
    if not part.endswith(".jar"):
        return part.startswith(f"{_GROUP}:{_ARTIFACT}:")
    file = Path(part.removeprefix("file://").removeprefix("file:"))
    try:
        with ZipFile(file) as jar:
            return _CLASS in jar.namelist()
    except (OSError, BadZipFile):
        return file.name == f"{_ARTIFACT}-{__version__}.jar"


def is_another_connector(part: str) -> bool:
    """True if it is a connector for Pulsar of the same name, but not this one."""
    return _ARTIFACT.partition("_")[0] in part and not is_connector(part)


def jar_path() -> Path:
    """The connector's jar inside this package.

    Where the package is a zip file, as by ``spark-submit --py-files``, it is a copy that lasts as long as this process.

    Returns:
        The path of the file.

    Raises:
        PulsarSetupError: The package was built without it.

    Examples:
        >>> SparkSession.builder.config("spark.jars", str(jar_path()))
    """
    jar = _packaged_jar()
    if not jar.is_file():
        raise PulsarSetupError("PULSAR_JAR_MISSING", file=str(jar))
    return jar if isinstance(jar, Path) else _copy()


def _packaged_jar() -> Traversable:
    return resources.files("pulsar_spark") / "jars" / f"{_ARTIFACT}-{__version__}.jar"


@cache
def _copy() -> Path:
    """The jar as a file, until this process ends."""
    files = ExitStack()
    atexit.register(files.close)
    return files.enter_context(resources.as_file(_packaged_jar()))
