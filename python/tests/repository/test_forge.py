"""What a forge reads: workflows, forms, owners, and the container for developers say what this repository has."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from release.hosts import registries

from pulsar_spark import cli
from pulsar_spark._version import __version__

ROOT = Path(__file__).resolve().parents[3]
FORGE = ROOT / ".github"
WORKFLOWS = sorted((FORGE / "workflows").glob("*.yml"))
FORMS = [file for file in sorted((FORGE / "ISSUE_TEMPLATE").glob("*.yml")) if file.name != "config.yml"]
OTHERS = [FORGE / "dependabot.yml", FORGE / "ISSUE_TEMPLATE/config.yml"]
TARGETS = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def read(file: Path) -> Any:  # noqa: ANN401 - YAML
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def commands(workflow: Path) -> list[str]:
    jobs = read(workflow)["jobs"].values()
    return [step["run"] for job in jobs for step in job["steps"] if "run" in step]


def test_workflows_run_what_there_is() -> None:
    assert [file.stem for file in WORKFLOWS] == ["check", "gate", "release"]
    every = [command for file in WORKFLOWS for command in commands(file)]
    made = [words for command in every if (words := command.split())[0] == "make"]
    assert {target for words in made for target in words[1:]} <= TARGETS
    assert commands(FORGE / "workflows/gate.yml") == [".ci/run", "make test-lakes", "make test-pythons"]
    assert ["make", "release-check"] in made


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: str(file.name))
def test_a_workflow_says_which_rights_and_how_much_time_it_has(file: Path) -> None:
    workflow = read(file)
    assert set(workflow["permissions"]) == {"contents"}
    assert all(job["timeout-minutes"] <= 180 for job in workflow["jobs"].values())


def test_a_release_is_of_the_version_of_its_tag() -> None:
    (check,) = [command for command in commands(FORGE / "workflows/release.yml") if command.startswith("test ")]
    for tag, code in ((f"v{__version__}", 0), ("v0.0.0", 1)):
        command = ["env", f"GITHUB_REF_NAME={tag}", "bash", "-euo", "pipefail", "-c", check]
        assert subprocess.run(command, cwd=ROOT, check=False).returncode == code


@pytest.mark.parametrize("file", FORMS, ids=lambda file: str(file.name))
def test_a_form_has_fields_with_names_of_their_own(file: Path) -> None:
    form = read(file)
    assert form["name"]
    assert form["description"]
    fields = [field["id"] for field in form["body"]]
    assert len(fields) == len(set(fields))
    assert any(field.get("validations", {}).get("required") for field in form["body"])


def test_commands_of_forms_are_accepted() -> None:
    found = {code for file in FORMS for code in re.findall(r"`pulsar-spark ([^`]+)`", file.read_text(encoding="utf-8"))}
    assert "doctor TOPIC --service-url URL --json" in found
    for words in map(shlex.split, found - {"--version"}):
        assert callable(cli.parser().parse_args(words).run)


def test_addresses_and_owners_are_those_of_the_package() -> None:
    project = re.findall(r'^Homepage = "(.*)"$', (ROOT / "python/pyproject.toml").read_text(), re.MULTILINE)[0]
    pom = (ROOT / "project/Pom.scala").read_text(encoding="utf-8")
    assert re.findall(r"^\* @(.*)$", (FORGE / "CODEOWNERS").read_text(), re.MULTILINE) == re.findall(
        r'Developer\("([^"]*)"', pom
    )
    for file in (*FORMS, *OTHERS, ROOT / "SECURITY.md"):
        text = file.read_text(encoding="utf-8")
        assert registries(text.encode()) == []
        assert all(url.startswith(project) for url in re.findall(r"https?://\w[^\s)\"]+", text)), file.name


def test_the_container_has_what_a_build_needs() -> None:
    """`tools/check-machine` names packages of Debian."""
    needed = set(re.findall(r"package ([a-z0-9.-]+)", (ROOT / "tools/check-machine").read_text(encoding="utf-8")))
    needed |= set(re.findall(r"package ([a-z]+)\)", (ROOT / ".ci/run").read_text(encoding="utf-8")))
    image = (ROOT / ".devcontainer/Dockerfile").read_text(encoding="utf-8")
    assert {"git", "make", "openjdk-17-jdk-headless", "python3.11", "python3.11-venv"} <= needed
    assert needed <= set(image.split())
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text(encoding="utf-8"))
    assert (container["build"]["dockerfile"], container["postCreateCommand"]) == ("Dockerfile", "make jar")
