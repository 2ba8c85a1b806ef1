"""What axe-core finds: faults that shut out who reads a page by keyboard or screen reader.

It is fetched as ESLint is, pinned, from npm; npm keeps it, so that it is fetched once. Where it
cannot be had, tests are skipped with a word; in CI they fail.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import pytest

from browsers.browser import Opened
from helpers.run_cache import once

PACKAGE = "axe-core@4.10.3"
_PATIENCE = 300  # s

# What each fault is, with the elements that have it. The rules are those of WCAG 2.2 A and AA, and
# what axe calls good practice.
_RUN = """async (only) => {
  const options = { rules: { "target-size": { enabled: true } }, resultTypes: ["violations"], preload: false, iframes: false };
  const found = await axe.run(document, only ? { runOnly: only, ...options } : options);
  return found.violations.map(({ id, help, nodes }) =>
    `${id}: ${help}: ${nodes.map((one) => `${one.target.join(" ")} ${one.any.concat(one.all, one.none).map((check) => check.message).join("; ")}`).join(" | ")}`);
}"""  # noqa: E501


def faults(page: Opened, *rules: str) -> list[str]:
    """Return what axe finds on a page; of some of its rules alone, where they are told."""
    page.run(axe())
    found: list[str] = page.run(_RUN, list(rules) or None)
    return found


def axe() -> str:
    """Return the script of axe-core; skips a test, or fails it in CI, where it cannot be had."""
    found = once(_fetched, PACKAGE)
    if found is None:
        text = f"{PACKAGE} cannot be had: npm is missing, or a package index"
        if os.environ.get("CI") == "true":
            pytest.fail(text)
        pytest.skip(text)
    return found


def _fetched() -> str | None:
    npm = shutil.which("npm")
    if npm is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        command: list[Any] = [
            npm,
            "pack",
            PACKAGE,
            "--prefer-offline",
            "--pack-destination",
            folder,
        ]
        try:
            subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=_PATIENCE)
        except (subprocess.SubprocessError, OSError):
            return None
        (packed,) = Path(folder).glob("*.tgz")
        with tarfile.open(fileobj=io.BytesIO(packed.read_bytes())) as files:
            script = files.extractfile("package/axe.min.js")
            assert script is not None
            return script.read().decode()
