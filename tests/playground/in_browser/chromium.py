"""Where the browser is."""

from __future__ import annotations

import os
import shutil


def chromium() -> str | None:
    """The path in the variable CHROMIUM, or the system's own."""
    return os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
