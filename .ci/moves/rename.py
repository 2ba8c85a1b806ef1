"""Rename classes as `names.tsv` says: `python .ci/moves/rename.py 1 [2]`.

A row is a stage, the file that defines the class (as it is called before `move.py`), its old name
and its new one. Names are followed through imports, also those of a package that hands a name on.
Where the new name is taken in a file that would get it, the row is refused and nothing of it is
written; the others are done. A second run changes nothing.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from dataclasses import dataclass, field

from python_files import Edit, _bound, edited, narrowed
from tables import HERE, ROOT, dotted, rows_of, tracked


@dataclass(kw_only=True)
class Module:
    """A file, its tree, and where its lines begin."""

    path: str
    text: str
    tree: ast.Module
    nodes: list[ast.AST] = field(default_factory=list)

    def offset(self, line: int, column: int) -> int:
        """Return where a place of the tree is, whose columns count bytes."""
        lines = self.text.splitlines(keepends=True)
        before = sum(map(len, lines[: line - 1]))
        return before + len(lines[line - 1].encode()[:column].decode())


def main() -> int:
    """Rename what the stages of the command line name."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("stages", nargs="+", help="stages of names.tsv")
    stages = reader.parse_args().stages
    moved = {row.old: row.new for row in rows_of("12")}
    modules = {}
    for path in tracked():
        if path.endswith(".py") and not path.startswith(".ci/moves/"):
            modules[path] = _module(path, (ROOT / path).read_text(encoding="utf-8"))
    done, refused, changed = 0, [], set()
    for line in (HERE / "names.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        stage, path, old, new = line.split("\t")
        if stage not in stages:
            continue
        here = path if path in modules else moved.get(path, path)
        if here not in modules:
            refused.append(f"{path}: is not there")
            continue
        texts, why = _renamed(modules, here, old, new)
        if why:
            refused.append(f"{here}: {old} -> {new}: {why}")
        done += bool(texts)
        for one, text in texts.items():
            modules[one] = _module(one, text)
            changed.add(one)
    for path in changed:
        (ROOT / path).write_text(modules[path].text, encoding="utf-8")
    print(f"{done} names are new, {len(changed)} files rewritten")
    if refused:
        print("refused:", *refused, sep="\n  ", file=sys.stderr)
    return 1 if refused else 0


def _module(path: str, text: str) -> Module:
    tree = ast.parse(text)
    return Module(path=path, text=text, tree=tree, nodes=list(ast.walk(tree)))


def _renamed(
    modules: dict[str, Module], path: str, old: str, new: str
) -> tuple[dict[str, str], str]:
    """Return the new texts of all files that have a name, or why it cannot be renamed."""
    names = {node.name for node in modules[path].tree.body if isinstance(node, ast.ClassDef)}
    if old not in names:
        return {}, "" if new in names else "no such class"
    sources = _sources(modules, path, old)
    texts = {}
    for one, module in modules.items():
        if old not in module.text:
            continue
        holds = dotted(one) in sources
        imports = [
            node
            for node in module.nodes
            if isinstance(node, ast.ImportFrom)
            and node.module in sources
            and any(alias.name == old for alias in node.names)
        ]
        aliases = _aliases(module, sources)
        text = module.text
        if not holds and not imports and not (aliases and f".{old}" in text):
            continue
        local = holds or any(a.name == old and not a.asname for n in imports for a in n.names)
        bound = [name for name, _ in _bound(module.nodes)]
        if local and (new in bound or any(_is_name(node, new) for node in module.nodes)):
            return {}, f"{new} is taken in {one}"
        if local and bound.count(old) != 1 and not (holds and one != path):
            return {}, f"{old} means several things in {one}"
        if re.search(rf"setattr\([^)]*[\"']{old}[\"']", text):
            return {}, f"{old} is named in a string in {one}"
        texts[one] = _rewritten(module, imports, aliases, old, new, local=local)
    return {one: text for one, text in texts.items() if text != modules[one].text}, ""


def _sources(modules: dict[str, Module], path: str, old: str) -> set[str]:
    """Return the modules in which the class goes by its name: its own, and what hands it on."""
    found, before = {dotted(path)}, set()
    while found != before:
        before = set(found)
        for one, module in modules.items():
            if old not in module.text and "import *" not in module.text:
                continue
            for node in module.tree.body:
                handed = isinstance(node, ast.ImportFrom) and node.module in found and node.names
                if any(a.name in ("*", old) and not a.asname for a in handed or ()):
                    found.add(dotted(one))
    return found


def _aliases(module: Module, sources: set[str]) -> set[str]:
    """Return what a file calls the modules in which the class goes by its name."""
    found = set()
    for node in module.nodes:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if f"{node.module}.{alias.name}" in sources:
                    found.add(alias.asname or alias.name)
        elif isinstance(node, ast.Import):
            found |= {alias.asname or alias.name for alias in node.names if alias.name in sources}
    return found


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _rewritten(
    module: Module,
    imports: list[ast.ImportFrom],
    aliases: set[str],
    old: str,
    new: str,
    *,
    local: bool,
) -> str:
    edits, joined = [], set[int]()
    for node in module.nodes:
        if isinstance(node, ast.JoinedStr):
            joined |= {id(one) for one in ast.walk(node)}
    for node in imports:
        for alias in node.names:
            if alias.name == old:
                begin = module.offset(alias.lineno, alias.col_offset)
                edits.append(Edit(begin, begin + len(old), new))
    for node in module.nodes:
        if id(node) in joined:
            continue
        if local and _is_name(node, old):
            begin = module.offset(node.lineno, node.col_offset)  # type: ignore[attr-defined]
            edits.append(Edit(begin, begin + len(old), new))
        elif local and isinstance(node, ast.ClassDef) and node.name == old:
            begin = module.text.index(old, module.offset(node.lineno, node.col_offset))
            edits.append(Edit(begin, begin + len(old), new))
        elif (
            isinstance(node, ast.Attribute)
            and node.attr == old
            and ast.unparse(node.value) in aliases
        ):
            end = module.offset(node.end_lineno or 0, node.end_col_offset or 0)
            edits.append(Edit(end - len(old), end, new))
    if local:
        edits += _in_texts(module.text, old, new)
    return narrowed(module.text, edited(module.text, edits))


def _in_texts(text: str, old: str, new: str) -> list[Edit]:
    """Return the edits of back quotes, of lists of names, and of what is put into texts."""
    starts, edits = [0], []
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in (tokenize.STRING, tokenize.COMMENT):
            continue
        said = re.sub(rf"`{old}(?=[`.])", f"`{new}", token.string)
        if re.match(r"(?i)r?f", said):
            said = re.sub(rf"(?<=\{{){old}\b", new, said)
        elif said in (f'"{old}"', f"'{old}'"):
            said = said.replace(old, new)
        if said != token.string:
            begin = starts[token.start[0] - 1] + token.start[1]
            edits.append(Edit(begin, begin + len(token.string), said))
    return edits


if __name__ == "__main__":
    sys.exit(main())
