"""Python files of a move: imports by their syntax tree, texts and comments by their tokens."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from mentions import Mentions

_WIDTH = 100
_F_STRING = re.compile(r"(?i)^(?:f|rf|fr)[\"']")


@dataclass(frozen=True, order=True)
class Edit:
    """A stretch of a text, by its offsets, and what stands there afterwards."""

    begin: int
    end: int
    text: str


def edited(text: str, edits: list[Edit]) -> str:
    """Return a text with edits made, none of which lie on each other."""
    done, at = [], 0
    for edit in sorted(set(edits)):
        if edit.begin < at:
            raise ValueError(f"edits overlap at {text[edit.begin : edit.end]!r}")
        done += [text[at : edit.begin], edit.text]
        at = edit.end
    return "".join([*done, text[at:]])


@dataclass(kw_only=True)
class PythonFile:
    """One file: what it says before, where, and how modules are called afterwards."""

    path: str
    text: str
    mentions: Mentions
    edits: list[Edit] = field(default_factory=list)
    renames: dict[str, str] = field(default_factory=dict)
    """New names of modules by those that the code calls them."""

    def rewritten(self) -> str:
        """Return the file as it is to be."""
        tree = ast.parse(self.text)
        nodes = list(ast.walk(tree))
        self.starts = [0]
        for line in self.text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.lines = self.text.splitlines(keepends=True)
        self.in_strings = {
            id(node)
            for joined in nodes
            if isinstance(joined, ast.JoinedStr)
            for node in ast.walk(joined)
        }
        self.bound = list(_bound(nodes))
        self.imported = set(_imported(nodes))
        own = {name for name, _ in self.bound}
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("qps"):
                self._from(node)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    new = self.mentions.module(alias.name)
                    if new != alias.name:
                        begin = self._offset(alias.lineno, alias.col_offset)
                        self.edits.append(Edit(begin, begin + len(alias.name), new))
        self._chains(nodes)
        for node in nodes:
            if (
                isinstance(node, ast.Name)
                and node.id in self.renames
                and id(node) not in self.in_strings
            ):
                begin = self._offset(node.lineno, node.col_offset)
                self.edits.append(Edit(begin, begin + len(node.id), self.renames[node.id]))
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            if token.type not in (tokenize.STRING, tokenize.COMMENT):
                continue
            new = self.mentions.replaced(token.string, self.path, self.imported, own=own)
            if token.type == tokenize.STRING and _F_STRING.match(token.string):
                for old, name in self.renames.items():
                    new = re.sub(rf"(?<![\w.`]){old}(?=\.[A-Za-z_])", name, new)
            if new != token.string:
                begin = self.starts[token.start[0] - 1] + token.start[1]
                self.edits.append(Edit(begin, begin + len(token.string), new))
        return narrowed(self.text, edited(self.text, self.edits))

    def _offset(self, line: int, column: int) -> int:
        """Return where a place of the tree is, whose columns count bytes."""
        return self.starts[line - 1] + len(self.lines[line - 1].encode()[:column].decode())

    def _from(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        groups: dict[str, list[tuple[ast.alias, str]]] = {}
        for alias in node.names:
            parent, name = self.mentions.source(module, alias.name)
            groups.setdefault(parent, []).append((alias, self._local(alias, module, name)))
        begin = self._offset(node.lineno, node.col_offset)
        end = self._offset(node.end_lineno or 0, node.end_col_offset or 0)
        if len(groups) == 1:
            ((parent, aliases),) = groups.items()
            if parent != module:
                at = self.text.index(module, begin, end)
                self.edits.append(Edit(at, at + len(module), parent))
            for alias, written in aliases:
                at = self._offset(alias.lineno, alias.col_offset)
                before = self.text[
                    at : self._offset(alias.end_lineno or 0, alias.end_col_offset or 0)
                ]
                if before != written:
                    self.edits.append(Edit(at, at + len(before), written))
            return
        if "#" in self.text[begin:end]:
            raise ValueError(
                f"{self.path}:{node.lineno}: a comment within an import that is taken apart"
            )
        lines = [
            f"from {one} import {', '.join(text for _, text in aliases)}"
            for one, aliases in groups.items()
        ]
        indent = "\n" + " " * node.col_offset
        if self.text[:begin].rpartition("\n")[2].strip():
            indent = "; "
        self.edits.append(Edit(begin, end, indent.join(lines)))

    def _local(self, alias: ast.alias, module: str, name: str) -> str:
        """Return how a name is imported: as before, or as a module by its new name."""
        if alias.asname:
            return name if name == alias.asname else f"{name} as {alias.asname}"
        if name == alias.name:
            return name
        origin = f"{module}.{alias.name}"
        taken = any(one == name for one, _ in self.bound)
        shared = any(one == alias.name and source != origin for one, source in self.bound)
        if taken or shared:
            self.mentions.doubts.append(
                f"{self.path}: {name} is imported as {alias.name}, since the name is taken"
            )
            return f"{name} as {alias.name}"
        self.renames[alias.name] = name
        return name

    def _chains(self, nodes: Iterable[ast.AST]) -> None:
        """Note names with dots in code, from `qps` on; the longest of each comes first."""
        inner = set()
        for node in nodes:
            if not isinstance(node, ast.Attribute) or id(node) in self.in_strings:
                continue
            inner.add(id(node.value))
            found = None if id(node) in inner else _chain(node)
            if found and found.startswith("qps."):
                new = self.mentions.module(found)
                if new != found:
                    begin = self._offset(node.lineno, node.col_offset)
                    end = self._offset(node.end_lineno or 0, node.end_col_offset or 0)
                    self.edits.append(Edit(begin, end, new))


def _chain(node: ast.AST) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        head = _chain(node.value)
        return head and f"{head}.{node.attr}"
    return None


def _imported(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the modules that a file imports, and from which it imports."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def _bound(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yield the names that a file gives to something, each with what is imported by it."""
    for node in nodes:
        if isinstance(node, ast.arg):
            yield node.arg, ""
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, ""
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, ""
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield (alias.asname or alias.name).partition(".")[0], alias.name
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            yield node.name, ""


def narrowed(before: str, after: str) -> str:
    """Return a text of which comments and docstrings that became too wide are set anew."""
    wide = {line for line in before.splitlines() if len(line) > _WIDTH}
    if not any(len(line) > _WIDTH and line not in wide for line in after.splitlines()):
        return after
    lines = after.splitlines()
    prose = _prose(after)
    at = 0
    while at < len(lines):
        line = lines[at]
        if len(line) > _WIDTH and line not in wide and prose[at]:
            mark = re.match(r"\s*(?:#:? )?", line)[0]  # type: ignore[index]
            cut = line.rindex(" ", 0, _WIDTH + 1)
            rest = line[cut + 1 :]
            lines[at] = line[:cut]
            if at + 1 < len(lines) and prose[at + 1] and _goes_on(lines[at + 1], mark):
                lines[at + 1] = f"{mark}{rest} {lines[at + 1][len(mark) :]}"
            else:
                lines.insert(at + 1, mark + rest)
                prose.insert(at + 1, True)
        at += 1
    return "\n".join(lines) + ("\n" if after.endswith("\n") else "")


def _prose(text: str) -> list[bool]:
    """Return of each line whether it is of a comment, or of a docstring and no summary."""
    found = [False] * (len(text.splitlines()) + 1)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and token.line.strip().startswith("#"):
            found[token.start[0] - 1] = True
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for at, one in enumerate(body if isinstance(body, list) else ()):
            if (
                isinstance(one, ast.Expr)
                and isinstance(one.value, ast.Constant)
                and isinstance(one.value.value, str)
            ):
                # The summary of a function stays in its line; what is said of a value goes on.
                begin = one.lineno if at == 0 else one.lineno - 1
                found[begin : one.end_lineno] = [True] * ((one.end_lineno or 0) - begin)
    return found


def _goes_on(line: str, mark: str) -> bool:
    """Whether a line continues the paragraph of the one before, which begins with `mark`."""
    text = line[len(mark) :]
    return line.startswith(mark) and bool(text.strip()) and text[0] not in ' -*>#"'
