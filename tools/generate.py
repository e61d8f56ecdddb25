"""Makes what comes from the option table and the list of error conditions.

    tools/generate.py           writes everything anew
    tools/generate.py --check   changes nothing and fails when something is stale

The sources are three resources of the connector: options.json, error-conditions.json and client-fields.json. Out of
them come the Python package's copies, its typed option classes, and the pages of options and errors. What the package
says of columns and metrics comes from the pages that describe them. The page of faults comes from the table of its
tests.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from error_pages import errors_page
from fault_page import TABLE, fault_page
from generated_names import PAGES as NAMED_IN
from generated_names import names_table
from generated_options import python_source
from option_pages import group_pages, options_page

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from pulsar_spark._tables import ErrorCondition, OptionTable

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "connector" / "src" / "main" / "resources" / "io" / "github" / "pulsarspark"
PACKAGE = ROOT / "python" / "pulsar_spark"
PAGES = ROOT / "docs" / "use"
NAMES = ("options.json", "error-conditions.json", "client-fields.json")

COMMAND = "make docs"


def main() -> int:
    """Write or check; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail when a file is stale")
    check = parser.parse_args().check
    files = made()
    stale = [path for path, text in files.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        name = path.relative_to(ROOT)
        if check:
            print(f"{name} is stale. Run: {COMMAND}", file=sys.stderr)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(files[path], encoding="utf-8")
            print(f"wrote {name}")
    return 1 if check and stale else 0


def made() -> dict[Path, str]:
    """Every file that is made, with its text."""
    sources = {name: (SOURCES / name).read_text(encoding="utf-8") for name in NAMES}
    options, errors, fields = (json.loads(sources[name]) for name in NAMES)
    tables = _tables_module()
    table: OptionTable = tables.parse_options(options, fields)
    conditions: Mapping[str, ErrorCondition] = tables.parse_conditions(errors)
    return {
        **{PACKAGE / "tables" / name: text for name, text in sources.items()},
        PACKAGE / "tables" / "names.json": names_table((PAGES / page).read_text(encoding="utf-8") for page in NAMED_IN),
        PACKAGE / "options" / "__init__.py": python_source(table),
        PAGES / "options.md": options_page(table, options["managed"], options["withoutEffect"]),
        **{PAGES / path: text for path, text in group_pages(table, tables.ARGUMENTS).items()},
        PAGES / "errors.md": errors_page(conditions),
        ROOT / "docs" / "develop" / "faults.md": fault_page(TABLE.read_text(encoding="utf-8")),
    }


def _tables_module() -> ModuleType:
    """`pulsar_spark._tables` alone: the package cannot be imported before its generated modules are there."""
    spec = importlib.util.spec_from_file_location("_tables", PACKAGE / "_tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.exit(main())
