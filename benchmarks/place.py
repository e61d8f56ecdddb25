"""Where and of what results are: the machine, and the state of the sources."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from pathlib import Path
from typing import Any


def machine() -> dict[str, Any]:
    """This machine, for those who read the results."""
    model = re.search(r"(?m)^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cores": os.cpu_count(),
        "cpu": model[1].strip() if model else platform.processor(),
        "memory_gb": round(memory / 1e9, 1),
        "system": f"{platform.system()} {platform.release()}",
    }


def commit() -> str:
    """The commit of these sources, and whether they were changed since."""
    folder = Path(__file__).resolve().parent
    asked = ["git", "describe", "--always", "--dirty"]
    return subprocess.run(asked, cwd=folder, capture_output=True, text=True, check=True, timeout=30).stdout.strip()
