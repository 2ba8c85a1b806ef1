"""`qps new`: a small spec that works, to start from."""

from __future__ import annotations

import sys
from argparse import Namespace
from importlib.resources import files
from pathlib import Path

from qps.commands.console import Exit, complain


def run(arguments: Namespace) -> Exit:
    """Write a starting spec; an existing file is never touched."""
    name = arguments.name.removesuffix(".qps")
    path = Path(f"{name}.qps")
    text = files("qps.stdlib").joinpath("_start.qps.txt").read_text(encoding="utf-8")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise complain(f"`{path}` exists already", "choose another name") from error
    except OSError as error:
        raise complain(f"`{path}` cannot be written: {error.strerror or error}") from error
    print(f"{path} written; solve it with: qps solve {path}", file=sys.stderr)
    return Exit.YES
