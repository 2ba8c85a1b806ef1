"""A spec as a file, or as git has it at some revision (`main:specs/app.qps`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from qps.commands.cache.spec_cache import load
from qps.commands.terminal.console import complain
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.pipeline import Spec
from qps.links import resolved_path
from qps.reviewing.git_objects import tree_at
from qps.reviewing.repository import commit_of, top_for


@contextmanager
def spec_at(argument: str) -> Iterator[Spec]:
    """Give a checked spec; the files that it names may be read as long as the context is open.

    QpsError where there is no such file or revision, or where the spec has mistakes.
    """
    revision, colon, name = argument.partition(":")
    if Path(argument).exists() or not colon or Path(argument).drive:
        yield load(Path(argument))
        return
    file = Path(name)
    top = top_for([file])
    commit = None if top is None else commit_of(top, revision)
    if top is None or commit is None:
        raise complain(
            f"unknown git revision `{revision}`",
            "name a commit, branch or tag: `main:specs/app.qps`",
        )
    own = resolved_path(file.parent) / file.name
    with tree_at(top, commit) as tree:
        way = PurePosixPath(own.relative_to(top).as_posix()) if own.is_relative_to(top) else None
        if way is None or not tree.has(way):
            raise complain(
                f"`{file}` does not exist at `{revision}`", f"find it with `git log -- {file}`"
            )
        outcome, _ = tree.checked(way, argument)
        if outcome.value is None:
            raise QpsError(outcome.diagnostics)
        yield outcome.value
