"""The pages of the Python reference, which Sphinx fills from docstrings and annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MODULES: Mapping[str, str] = {
    "pulsar_spark": "functions, local, progress, sinks",
    "pulsar_spark.functions": "",
    "pulsar_spark.progress": "",
    "pulsar_spark.sinks": "",
    "pulsar_spark.local": "",
    "pulsar_spark.testing": "",
}
"""Public modules, with names in each that have a page of their own."""

FOLDER = "reference/python"


def api_pages() -> Mapping[str, str]:
    """The pages by their places in the site, with endings; the first one leads to the others."""
    pages = {f"{FOLDER}/{module}.md": _page(module, without) for module, without in MODULES.items()}
    names = "\n".join(MODULES)
    index = f"# Python\n\nThe public names of the package, with their types.\n\n```{{toctree}}\n{names}\n```\n"
    return {f"{FOLDER}/index.md": index, **pages}


def _page(module: str, without: str) -> str:
    excluded = f"   :exclude-members: {without}\n" if without else ""
    return f"# {module}\n\n```{{eval-rst}}\n.. automodule:: {module}\n   :members:\n{excluded}```\n"
