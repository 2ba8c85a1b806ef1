"""`qps lsp`: the language server, which an editor starts and speaks with."""

from __future__ import annotations

import os
from argparse import Namespace
from typing import TYPE_CHECKING

from qps.commands.terminal.console import Exit, complain
from qps.compiler.diagnostics.extras import need_pygls

if TYPE_CHECKING:
    from qps.commands.report import PagePart
    from qps.compiler.pipeline import Spec


def run(arguments: Namespace) -> Exit:  # noqa: ARG001 - all commands take theirs
    """Serve the editor at the other ends of standard input and output."""
    need_pygls("`qps lsp`")
    from qps.editing.language_server import serve  # noqa: PLC0415 - an extra, and slow to import
    from qps.editing.message_reader import MessageTooLargeError  # noqa: PLC0415 - seldom needed

    # What is printed by chance must not get among the messages: they have a stream of their own.
    with os.fdopen(os.dup(0), "rb") as reader, os.fdopen(os.dup(1), "wb") as writer:
        os.dup2(2, 1)
        try:
            serve(page_of, reader, writer)
        except MessageTooLargeError as error:
            raise complain(
                f"the language server stopped: {error}",
                "the client violated the Language Server Protocol",
            ) from error
    return Exit.YES


def page_of(spec: Spec, tried: PagePart | None = None) -> str:
    """Return the live page of a spec; without what was `tried` and could not be made."""
    from qps.commands.report import page_of  # noqa: PLC0415
    from qps.commands.terminal.progress import Progress  # noqa: PLC0415 - of few texts, and slow to import

    options = Namespace(scenario=[], set=[], advice=False, variants=200, simulate=False)
    return page_of([spec], options, Progress(total=4, quiet=True), tried)[0]
