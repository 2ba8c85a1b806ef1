"""`qps serve`: the page of a spec in the browser, made anew after each save."""

from __future__ import annotations

import sys
import webbrowser
from argparse import Namespace
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Thread
from time import sleep
from typing import TypeAlias

from qps.commands.cache.spec_cache import load
from qps.commands.report import page_of
from qps.commands.terminal.console import Exit, complain
from qps.commands.terminal.progress import Progress
from qps.compiler.diagnostics.diagnostic import Diagnostic, QpsError
from qps.compiler.diagnostics.render import full, printable
from qps.links import resolved_path
from qps.reports.pages.page_server import HOST, Served, listening
from qps.reports.text.words.phrases import phrase

_EVERY = 0.2
_Stamps: TypeAlias = dict[Path, tuple[int, int] | None]


def run(arguments: Namespace) -> Exit:
    """Serve the page until it is interrupted."""
    served = Served()
    seen = stamps(_watched(served, arguments.file))
    make(served, arguments)
    try:
        server = listening(served, arguments.port)
    except (OSError, OverflowError) as error:
        raise complain(
            f"cannot listen on port {arguments.port} of {HOST}: {error}",
            "choose another `--port`, or leave it out",
        ) from error
    with server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://{HOST}:{server.server_port}/"
        print(phrase("serve.started", file=arguments.file, address=address))
        _report(served, arguments)
        sys.stdout.flush()
        if arguments.browser:
            webbrowser.open(address)
        try:
            watch(served, arguments, seen)
        except KeyboardInterrupt:
            return Exit.YES
        finally:
            server.shutdown()
    return Exit.YES


def watch(
    served: Served,
    arguments: Namespace,
    seen: _Stamps,
    wait: Callable[[float], object] = sleep,
) -> None:
    """Make the page anew whenever a file of the spec has changed, until interrupted."""
    while True:
        now = stamps(_watched(served, arguments.file))
        if now != seen:
            make(served, arguments)
            _report(served, arguments)
            # Files that are new to the spec are as they were read; those read before, as looked at.
            seen = stamps(_watched(served, arguments.file)) | now
        else:
            wait(_EVERY)


def make(served: Served, arguments: Namespace) -> None:
    """Make the page, or keep the last one beside what is wrong."""
    try:
        spec = load(arguments.file)
        served.files = frozenset(Path(file) for file in spec.files)
        with Progress(
            total=4, quiet=arguments.quiet, unit=None, label=phrase("term.page")
        ) as progress:
            served.page = page_of([spec], arguments, progress)[0]
        served.wrong = ""
        served.version += 1
    except QpsError as error:
        served.files |= _named_in(error.diagnostics)
        served.wrong = full(error.diagnostics)
    except Exception as error:  # noqa: BLE001 - whatever it is, the page says it and the next save may fix it
        failure = f"{type(error).__name__}: {error}"
        served.wrong = printable(phrase("serve.internal_error", text=failure))


def _report(served: Served, arguments: Namespace) -> None:
    """Tell on the terminal, too, what is wrong."""
    if served.wrong and not arguments.quiet:
        sys.stderr.write(served.wrong.rstrip("\n") + "\n")
        sys.stderr.flush()


def _named_in(diagnostics: Iterable[Diagnostic]) -> frozenset[Path]:
    """Return the files that mistakes are in: to fix them, one of these is saved."""
    sources = [one.primary.span.source for one in diagnostics if one.primary is not None]
    return frozenset(one.folder / Path(one.label).name for one in sources if one.folder is not None)


def _watched(served: Served, file: Path) -> frozenset[Path]:
    """Return the files of a spec, and those beside it that it may be about to read."""
    beside = {one for one in resolved_path(file).parent.glob("*") if one.suffix in (".qps", ".csv")}
    return served.files | beside | {file}


def stamps(files: Iterable[Path]) -> _Stamps:
    """Return when files were written and how long they are, None for those that are not there."""
    found: _Stamps = {}
    for file in files:
        try:
            status = file.stat()
        except OSError:
            found[file] = None
        else:
            found[file] = (status.st_mtime_ns, status.st_size)
    return found
