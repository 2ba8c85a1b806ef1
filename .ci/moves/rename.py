"""Rename definitions as `names.tsv` says: `python .ci/moves/rename.py 3`.

A row is a stage, a file (or a pattern of files), an old name and a new one. The old name is that of
a class, function or value of a module, or one with dots: `function.parameter`, `Class.member`,
`Class.method.parameter`. `*.name` is every parameter of that name in these files, and every
function within another one; `@name` is every member of a class. The first row that fits decides.
A row that is not safe is refused, and the others are done. A second run changes nothing.
"""

from __future__ import annotations

import argparse
import sys

from definitions import Definitions
from scopes import Module
from tables import HERE, ROOT, tracked

_TEMPLATES = (".jinja", ".html")


def main() -> int:
    """Rename what the stages of the command line name."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("stages", nargs="+", help="stages of names.tsv")
    reader.add_argument("--dry", action="store_true", help="write nothing")
    arguments = reader.parse_args()
    modules, others = {}, {}
    for path in tracked():
        if path.startswith((".ci/moves/", "tests/goldens/", "tests/first_edition/")):
            continue
        if path.endswith(".py"):
            text = (ROOT / path).read_text(encoding="utf-8")
            modules[path] = Module(path=path, text=text)
        elif path.endswith(_TEMPLATES):
            others[path] = (ROOT / path).read_text(encoding="utf-8")
    definitions = Definitions(modules=modules, others=others)
    missing = []
    for line in (HERE / "names.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        stage, path, old, new = line.split("\t")
        if stage in arguments.stages and not definitions.plan(path, old, new):
            missing.append(f"{path}: {old}")
    done, refused = 0, []
    for target, new, why in definitions.run():
        done += not why
        if why:
            refused.append(f"{target.path}: {target.name} -> {new}: {why}")
    for path, text in () if arguments.dry else sorted(definitions.changed.items()):
        (ROOT / path).write_text(text, encoding="utf-8")
    print(f"{done} renames, {len(definitions.changed)} files rewritten")
    print(f"not there ({len(missing)}):", *missing, sep="\n  ")
    print(f"refused ({len(refused)}):", *refused, sep="\n  ", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
