"""Settings of Sphinx, which reads them by their names."""

from __future__ import annotations

from typing import Any

from pulsar_spark._version import __version__

project = "pulsar-spark"
version = release = __version__
html_title = f"{project} {version}"
copyright = "The pulsar-spark authors"  # noqa: A001 - the name of the setting

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_design", "sphinxcontrib.mermaid"]
html_theme = "furo"
html_copy_source = True
html_sourcelink_suffix = ""
templates_path = ["templates"]
html_static_path = ["static"]
html_css_files = ["wide.css"]
_SIDEBAR = ("brand", "search", "scroll-start", "navigation", "versions", "scroll-end", "variant-selector")
html_sidebars = {"**": [f"sidebar/{part}.html" for part in _SIDEBAR]}

# Anchors as forges make them.
myst_heading_anchors = 6
myst_links_external_new_tab = False

autodoc_member_order = "groupwise"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
maximum_signature_line_length = 100
# A name in single backticks is a reference where there is such a name, else code.
default_role = "py:obj"


def _code_of_modules(_app: object, what: str, _name: str, _obj: object, _options: object, lines: list[str]) -> None:
    """Mark what a module's docstring indents as code."""
    starts = [at for at, line in enumerate(lines) if line[:1] == " " and at and not lines[at - 1].strip()]
    begun = [at for at in starts if not next(line for line in lines[at - 1 :: -1] if line.strip())[:1].isspace()]
    for at in reversed(begun if what == "module" else []):
        lines[at:at] = [".. code-block:: python", ""]


def _exceptions_alone(_app: object, what: str, *more: object) -> tuple[str, None] | None:
    """Leave out how an exception is made: users catch it."""
    signature = more[-2]
    return ("", None) if what == "exception" and signature else None


def setup(app: Any) -> None:  # noqa: ANN401 - of Sphinx, which only the environment of the site has
    """Connect what changes docstrings on their way."""
    app.connect("autodoc-process-docstring", _code_of_modules)
    app.connect("autodoc-process-signature", _exceptions_alone)
