"""The tree-sitter grammar at work: its parser compiled by `cc`, read by the package tree-sitter."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest
from tree_sitter import Language

SOURCE = Path(__file__).resolve().parents[2] / "editors" / "tree-sitter-qps"


@cache
def language() -> Language:
    """Return the grammar; without a C compiler the test is skipped, but not in CI on Unix."""
    if shutil.which("cc") is None and (os.name == "nt" or not os.environ.get("CI")):
        pytest.skip("no C compiler (cc) for the parser of tree-sitter")
    built = Path(mkdtemp()) / "qps.so"
    files = [SOURCE / "src" / "parser.c", SOURCE / "src" / "scanner.c"]
    options = ["-shared", "-fPIC", "-O0", "-Wall", "-Werror", "-I", SOURCE / "src"]
    subprocess.run(["cc", *options, *files, "-o", built], check=True)
    library = ctypes.CDLL(str(built))
    library.tree_sitter_qps.restype = ctypes.c_void_p
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype = ctypes.py_object
    capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return Language(capsule(library.tree_sitter_qps(), b"tree_sitter.Language", None))
