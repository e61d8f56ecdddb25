"""The groups of the site, and the pages in each, by their paths in the repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FRONT = "README.md"
USE, DEVELOP = "docs/use", "docs/develop"


def _pages(folder: str, names: str) -> Sequence[str]:
    return [f"{folder}/{name}.md" for name in names.split()]


GROUPS: Mapping[str, Sequence[str]] = {
    "Start": _pages(
        USE, "README quickstart install platforms cluster security shared-servers local-pulsar testing recipes"
    ),
    "Read": _pages(
        USE,
        "reading offsets filters streaming real-time direct-reads offloaded-ledgers schemas schema-changes bad-messages"
        " functions",
    ),
    "Write": _pages(USE, "writing copying"),
    "SQL": _pages(USE, "tables metadata"),
    "Operate": _pages(
        USE,
        "command-line doctor progress troubleshooting data-loss checkpoints-on-pulsar fail-over operators tuning "
        "performance",
    ),
    "Move": _pages(USE, "from-kafka from-the-incumbent from-databricks from-pulsar-sql"),
    "Reference": [*_pages(USE, "options columns errors compatibility"), "CHANGELOG.md"],
    "Develop": [
        "CONTRIBUTING.md",
        *_pages(
            DEVELOP,
            "overview chores client-settings exactly-once exactly-once-model faults fuzzing nemesis nemesis-results "
            "releasing vulnerabilities",
        ),
        "docs/develop/decisions/README.md",
        "benchmarks/README.md",
        "benchmarks/lab-book.md",
        "SECURITY.md",
    ],
}
"""In the order of the site. `FRONT` is before all."""

BELOW: Mapping[str, str] = {
    "docs/use/options.md": "docs/use/options/*.md",
    "docs/develop/decisions/README.md": "docs/develop/decisions/[0-9]*.md",
}
"""Pages with pages below them, which are in the same group."""
