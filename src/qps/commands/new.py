"""`qps new`: write a small working spec to start from."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from qps.commands.arguments.spec_templates import DEFAULT, STARTING_SPECS, text_of
from qps.commands.terminal.console import Exit, complain
from qps.compiler.diagnostics.suggest import offered
from qps.reports.text.words.phrases import phrase


def run(arguments: Namespace) -> Exit:
    """Write a starting spec; an existing file is never touched."""
    example = arguments.example or DEFAULT
    if example not in STARTING_SPECS:
        raise complain(f"unknown example `{example}`", offered(example, STARTING_SPECS))
    name = arguments.name or arguments.example
    if name is None:
        raise complain("the new spec needs a name", "write `qps new site`")
    path = Path(f"{name.removesuffix('.qps')}.qps")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text_of(STARTING_SPECS[example]))
    except FileExistsError as error:
        raise complain(f"`{path}` already exists", "choose another name") from error
    except OSError as error:
        raise complain(f"cannot write `{path}`: {error.strerror or error}") from error
    print(phrase("command.new_written", path=path), file=sys.stderr)
    return Exit.YES
