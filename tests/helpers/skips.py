"""What tests may be skipped for at home, and not in CI."""

from __future__ import annotations

import os

from browsers import browser, node


def missing_in_ci() -> str:
    """Return what is not installed and must be in CI, where nobody would see what was skipped."""
    if os.environ.get("CI") != "true":
        return ""
    wanted = ((browser.CHROMIUM, browser.MISSING), (node.NODE, node.MISSING))
    return "; ".join(text for found, text in wanted if found is None)
