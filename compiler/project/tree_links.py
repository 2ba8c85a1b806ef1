"""Links that lead out of the tree that their author can write: what lies there is not his.

A spec, and the folder that it is looked for in, may be a link, such as `leak.qps` to somebody's
credentials. It is followed within its project, else within its repository; a link to a file without
either within the folder that it lies in.
"""

from __future__ import annotations

import os
from pathlib import Path

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.project.project_location import project_file, top_of_files
from qps.links import real_path, resolved_path


def is_in_its_tree(path: Path, sink: Sink) -> bool:
    """Return whether no link on the way to a file or folder leads out; say where one does."""
    link = link_out(path)
    if link is None:
        return True
    shown, name = shortened(str(path)), shortened(link.name)
    if real_path(link) is None:
        sink.report(
            codes.UNREADABLE,
            None,
            f"`{shown}` is a broken or circular symbolic link",
            hint="name the target file",
        )
    elif link.name == path.name:
        sink.report(
            codes.OUTSIDE_FOLDER,
            None,
            f"`{shown}` is a symbolic link out of its folder, project or repository",
            hint="name the target file, or replace the link by it",
        )
    else:
        sink.report(
            codes.OUTSIDE_FOLDER,
            None,
            f"`{shown}` is outside the project or repository, through the link `{name}`",
            hint="name the target file, or replace the link by it",
        )
    return False


def link_out(path: Path) -> Path | None:
    """Return the link on the way to a file that leads out of its tree, None where none does."""
    place, *names = _parts(path)
    for number, name in enumerate(names):
        following = place / name
        if not following.is_symlink():
            place = following
            continue
        target = real_path(following)
        if target is None:
            return following
        tree = _tree(place)
        if tree is None and number == len(names) - 1 and not target.is_dir():
            tree = place
        if tree is not None and not target.is_relative_to(tree):
            return following
        place = target
    return None


def _parts(path: Path) -> tuple[Path, *tuple[str, ...]]:
    """Return where a path begins, and the names that lead on from there."""
    try:
        whole = Path(os.path.normpath(path if path.is_absolute() else Path.cwd() / path))
    except OSError:
        whole = path
    return (Path(whole.anchor), *whole.parts[1:])


def _tree(folder: Path) -> Path | None:
    """Return the folder of the project that a folder lies in, else the top of its repository."""
    file = project_file(folder)
    return top_of_files(folder) if file is None else resolved_path(file.parent)
