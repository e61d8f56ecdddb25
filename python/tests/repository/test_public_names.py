"""What notebooks, `help` and type checkers see of the public functions and classes."""

from __future__ import annotations

import inspect
import subprocess
import sys
import typing
from typing import Any

import pytest
from pyspark.sql import SparkSession

import pulsar_spark
from pulsar_spark import PulsarReadOptions, PulsarWriteOptions, functions
from pulsar_spark._tables import ARGUMENTS
from pulsar_spark.options import ReadArguments, WriteArguments
from pulsar_spark.options.fields import arguments

READS = [pulsar_spark.read_pulsar, pulsar_spark.read_pulsar_stream]
FROM_OPTIONS: list[tuple[Any, Any, Any]] = [
    *((function, PulsarReadOptions, ReadArguments) for function in (*READS, functions.from_pulsar, functions.register)),
    *(
        (function, PulsarWriteOptions, WriteArguments)
        for function in (pulsar_spark.write_pulsar, pulsar_spark.write_pulsar_stream, functions.to_pulsar)
    ),
]
PUBLIC = {name: getattr(pulsar_spark, name) for name in pulsar_spark.__all__}
FUNCTIONS = {name: value for name, value in PUBLIC.items() if inspect.isfunction(value)}
FUNCTIONS |= {function.__name__: function for function, _, _ in FROM_OPTIONS}
# The types of `PulsarCluster.on`, which is there without pyspark, too.
NEED_SPARK = {"SparkSession": SparkSession, "Pulsar": pulsar_spark.Pulsar}
CLASSES = {name: value for name, value in PUBLIC.items() if inspect.isclass(value)}


def parameters(function: Any) -> dict[str, inspect.Parameter]:  # noqa: ANN401
    return dict(inspect.signature(function).parameters)


@pytest.mark.parametrize(("function", "options", "more"), FROM_OPTIONS, ids=lambda value: value.__name__)
def test_the_signature_shows_every_option_of_the_table(function: Any, options: Any, more: Any) -> None:  # noqa: ANN401
    shown = parameters(function)
    assert inspect.Parameter.VAR_KEYWORD not in {parameter.kind for parameter in shown.values()}
    hints = typing.get_type_hints(options)
    for name in more.__annotations__:
        parameter = shown[name]
        assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
        assert parameter.default is None
        assert parameter.annotation == hints[name]
    assert set(more.__annotations__) < set(hints) - {"SCOPES"}


@pytest.mark.parametrize("function", READS, ids=lambda function: function.__name__)
def test_a_read_accepts_every_option_by_its_name_or_by_the_argument_that_replaces_it(function: Any) -> None:  # noqa: ANN401
    shown = parameters(function)
    for name in arguments():
        option = name in typing.get_type_hints(PulsarReadOptions)
        ends = "end" not in shown and ARGUMENTS.get(name) == "end"
        assert (ARGUMENTS.get(name, name) in shown) == (option and not ends), name


def test_a_signature_binds_as_the_function_does() -> None:
    bound = inspect.signature(pulsar_spark.read_pulsar).bind(None, "a", start="-2h", poll_timeout_ms=5)
    assert bound.arguments["poll_timeout_ms"] == 5
    with pytest.raises(TypeError, match="poll_timeout"):
        inspect.signature(pulsar_spark.read_pulsar).bind(None, "a", poll_timeout=5)


@pytest.mark.parametrize("name", [*FUNCTIONS, *CLASSES])
def test_type_hints_can_be_evaluated(name: str) -> None:
    subject = FUNCTIONS.get(name) or CLASSES[name]
    hints = typing.get_type_hints(subject)
    if name in FUNCTIONS:
        assert hints.keys() == {*parameters(subject), "return"}
    else:
        for _, method in inspect.getmembers(subject, inspect.isfunction):
            if method.__module__.startswith("pulsar_spark") and not method.__name__.startswith("_"):
                typing.get_type_hints(method, localns=NEED_SPARK if subject is pulsar_spark.PulsarCluster else None)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_docstrings_explain_every_argument(name: str) -> None:
    function = FUNCTIONS[name]
    doc = inspect.getdoc(function) or ""
    sections = ["Returns:", "Examples:"]
    sections += ["Args:"] if parameters(function) else []
    assert [section for section in sections if f"\n{section}\n" not in doc] == []
    assert "\nRaises:\n" in doc or name in ("condition_of", "error_of", "maven_coordinate")
    for parameter in parameters(function):
        assert f"\n    {parameter}: " in doc, parameter
    assert "\n    more: " not in doc
    assert max(map(len, doc.splitlines())) <= 120


def test_submodules_need_no_import_of_their_own() -> None:
    program = """
        import sys, pulsar_spark
        assert {"local", "functions"} <= set(dir(pulsar_spark))
        assert "pulsar_spark.local" not in sys.modules
        print(pulsar_spark.local.LocalPulsar.__name__, pulsar_spark.functions.register.__name__)
        try:
            pulsar_spark.locale
        except AttributeError as error:
            print(error)
    """
    assert python(program).splitlines() == ["LocalPulsar register", "module 'pulsar_spark' has no attribute 'locale'"]


@pytest.mark.parametrize("missing", ["fcntl", "pyspark"])
def test_everything_but_what_needs_it_works_without_a_module(missing: str) -> None:
    program = f"""
        import sys
        sys.modules[{missing!r}] = None
        import pulsar_spark.cli
        from pulsar_spark.local import LocalPulsar
        print(pulsar_spark.PulsarReadOptions(topic="t"), pulsar_spark.cli.main(["options", "topic", "--json"]))
    """
    assert python(program).splitlines()[-1] == "PulsarReadOptions(topic='t') 0"


def test_a_local_server_without_locks_is_reported() -> None:
    program = """
        import sys
        sys.modules["fcntl"] = None
        from pulsar_spark import cli
        print(cli.main(["local", "start", "--detach", "--name", "no-locks", "--json"]))
    """
    said, code = python(program).splitlines()
    assert code == "1"
    assert "needs Linux or macOS" in said


def python(program: str) -> str:
    code = inspect.cleandoc(program)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
