"""Which specs read a file: those that a change of a module or of a table moves."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from qps.commands.cache.spec_cache import check_file
from qps.commands.terminal.console import complain, specs_below, specs_under
from qps.compiler.pipeline import Spec, check_source, importer_of
from qps.compiler.project.tree_links import link_out
from qps.compiler.syntax.importer import read_spec
from qps.links import resolved_path
from qps.reviewing.changed_files import ChangesSince
from qps.reviewing.repository import commit_of, top_for


def requested_specs(arguments: Namespace) -> list[Path]:
    """Return the specs that a command names: by name, by files they read, by changes."""
    if arguments.readers and arguments.changed:
        raise complain("`--readers` and `--changed` cannot be combined", "remove one of them")
    if arguments.changed:
        return changed_specs(arguments.paths)
    return readers_of(arguments.paths) if arguments.readers else specs_under(arguments.paths)


def changed_specs(paths: Sequence[Path]) -> list[Path]:
    """Return the specs that read what is not as the last commit has it; all where there is none.

    A file that is gone is read by whoever names it. QpsError where there is no repository.
    """
    top = top_for(paths)
    if top is None:
        raise complain(
            "this folder is not in a git repository", "remove `--changed`, and name the specs"
        )
    found = specs_under([path for path in paths if not path.is_dir() or specs_below(path)])
    commit = commit_of(top, "HEAD")
    if commit is None:
        return found
    since = ChangesSince.of(top, commit)
    return [path for path in found if reads_any(path, since)]


def reads_any(path: Path, since: ChangesSince) -> bool:
    """Return whether a spec reads what was changed; where undecided, it counts as so."""
    try:
        return any(since.touches(file) for file in read_by(path))
    except Exception:  # noqa: BLE001 - the check of the spec reports a fault of ours
        return True


def sound_spec(path: Path) -> Spec | None:
    """Return a spec, None where it has mistakes or meets a fault of ours: tests report both."""
    try:
        return check_file(path).value
    except Exception:  # noqa: BLE001 - a fault of ours takes no other spec away
        return None


def read_by(path: Path) -> frozenset[Path]:
    """Return the files that a spec is read from; of one with mistakes those that it names."""
    spec = check_file(path).value
    own = resolved_path(path.parent) / path.name
    return (files_of(path) if spec is None else frozenset(spec.files)) | {own}


def files_of(path: Path) -> frozenset[Path]:
    """Return the files that a spec names, itself among them, also where it has mistakes."""
    read = read_spec(path)
    if read.value is None:
        own = resolved_path(path.parent) / path.name
        return frozenset([own] if link_out(path) is not None else [own, resolved_path(path)])
    importer = importer_of(read.value)
    check_source(read.value, importer)
    return frozenset([resolved_path(path), *importer.named])


def readers_of(paths: Sequence[Path], root: Path = Path()) -> list[Path]:
    """Return the specs below a folder that are, or read, one of some files, sorted."""
    wanted = {resolved_path(path) for path in paths}
    for path in paths:
        if not path.is_file():
            raise complain(f"`{path}` is not a file", "name the changed files")
    found = [s for s in specs_below(root) if s.is_file() and files_of(s) & wanted]
    known = {resolved_path(spec) for spec in found}
    outside = [path for path in paths if path.suffix == ".qps" and resolved_path(path) not in known]
    return [*found, *outside]
