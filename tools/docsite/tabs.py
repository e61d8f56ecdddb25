"""Snippets in several languages as tabs: a page has them one after the other."""

from __future__ import annotations

import re

_LANGUAGES = "python|scala|java|sql"
_CODE = r"\n(?:(?!```).*\n)*```\n"
_RUN = re.compile(rf"(?:^```(?:{_LANGUAGES}){_CODE}\n?){{2,}}", re.MULTILINE)
_SNIPPET = re.compile(rf"^```({_LANGUAGES}){_CODE}", re.MULTILINE)


def with_tabs(text: str) -> str:
    """The page with snippets of different languages, one directly after the other, as tabs."""
    return _RUN.sub(lambda run: _tabs(run[0]), text)


def _tabs(run: str) -> str:
    groups: list[dict[str, str]] = []
    for snippet in _SNIPPET.finditer(run):
        if not groups or snippet[1] in groups[-1]:
            groups.append({})
        groups[-1][snippet[1]] = snippet[0]
    return "\n".join(
        "".join(each.values()) if len(each) == 1 else f"````{{tab-set-code}}\n{''.join(each.values())}````\n"
        for each in groups
    ) + ("\n" if run.endswith("\n\n") else "")
