"""Which definition each name of a Python file means, and where the names stand in its text.

Python 3.11 says wrongly where in an f-string a name stands, so these are found between braces.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(kw_only=True, eq=False)
class Scope:
    """A module, class, function or comprehension, with the names that it binds."""

    node: ast.AST
    outer: Scope | None
    bound: set[str] = field(default_factory=set)
    free: set[str] = field(default_factory=set)
    """Names that `global` or `nonlocal` takes from further outside."""

    def owner(self, name: str) -> Scope | None:
        """Return the scope that a name here is of; None where it is a builtin."""
        at: Scope | None = self
        while at is not None:
            sees = at is self or not isinstance(at.node, ast.ClassDef)
            if sees and name in at.bound and name not in at.free:
                return at
            at = at.outer
        return None


@dataclass(frozen=True, kw_only=True)
class Occurrence:
    """A name: where it begins (None in an f-string), and the scope that it stands in."""

    name: str
    scope: Scope
    begin: int | None
    joined: ast.JoinedStr | None = None


@dataclass(kw_only=True)
class Module:
    """A file, its tree, and what its names mean."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the tree."""
        return list(ast.walk(self.tree))

    @cached_property
    def words(self) -> frozenset[str]:
        """All words of the text."""
        return frozenset(re.findall(r"[A-Za-z_]\w*", self.text))

    @cached_property
    def _lines(self) -> list[str]:
        return self.text.splitlines(keepends=True)

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        for line in self._lines:
            starts.append(starts[-1] + len(line))
        return starts

    def offset(self, line: int, column: int) -> int:
        """Return where a place of the tree is, whose columns count bytes."""
        if line > len(self._lines):
            return len(self.text)
        text = self._lines[line - 1]
        short = column if text.isascii() else len(text.encode()[:column].decode())
        return self._starts[line - 1] + short

    def begin(self, node: ast.AST) -> int:
        """Return where a node begins."""
        return self.offset(node.lineno, node.col_offset)  # type: ignore[attr-defined]

    def end(self, node: ast.AST) -> int:
        """Return where a node ends."""
        return self.offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def name_begin(self, node: ast.AST, name: str) -> int:
        """Return where the name of a definition stands, behind `def` or `class`."""
        match = re.compile(rf"(?:async\s+)?(?:def|class)\s+(?={name}\b)").match(
            self.text, self.begin(node)
        )
        if match is None:
            raise ValueError(f"{self.path}:{node.lineno}: no {name}")  # type: ignore[attr-defined]
        return match.end()

    @cached_property
    def joined_by(self) -> dict[int, ast.JoinedStr]:
        """The outermost f-string that each node stands in."""
        found: dict[int, ast.JoinedStr] = {}
        for node in self.nodes:  # from outside to inside
            if isinstance(node, ast.JoinedStr) and id(node) not in found:
                for one in ast.walk(node):
                    found.setdefault(id(one), node)
        return found

    @cached_property
    def scopes(self) -> dict[int, Scope]:
        """The scopes by their nodes."""
        return self._resolved[0]

    @cached_property
    def occurrences(self) -> dict[str, list[Occurrence]]:
        """All names but those behind a dot, by name."""
        return self._resolved[1]

    @cached_property
    def _resolved(self) -> tuple[dict[int, Scope], dict[str, list[Occurrence]]]:
        reader = _Reader(module=self)
        reader.read()
        return reader.scopes, reader.found

    @cached_property
    def definitions(self) -> dict[str, tuple[str, ast.AST, ast.AST]]:
        """All definitions by names with dots: kind, the node that it lies in, its own one."""
        found: dict[str, tuple[str, ast.AST, ast.AST]] = {}
        self._define(self.tree, "", found)
        return found

    def _define(
        self, parent: ast.AST, prefix: str, found: dict[str, tuple[str, ast.AST, ast.AST]]
    ) -> None:
        inside = isinstance(parent, _FUNCTIONS)
        of_class = isinstance(parent, ast.ClassDef)
        kind = "member" if of_class else "local" if inside else "global"
        for node in _statements(parent):
            if isinstance(node, _FUNCTIONS):
                found.setdefault(prefix + node.name, (kind, parent, node))
                args = node.args
                for arg in (
                    *args.posonlyargs,
                    *args.args,
                    *args.kwonlyargs,
                    *filter(None, (args.vararg, args.kwarg)),
                ):
                    if arg.arg not in ("self", "cls"):
                        found[f"{prefix}{node.name}.{arg.arg}"] = ("param", node, arg)
                self._define(node, f"{prefix}{node.name}.", found)
                if of_class:
                    self._of_self(node, prefix, parent, found)
            elif isinstance(node, ast.ClassDef):
                found.setdefault(prefix + node.name, ("class", parent, node))
                self._define(node, f"{prefix}{node.name}.", found)
            elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.For | ast.With):
                for name in ast.walk(node):
                    if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                        found.setdefault(prefix + name.id, (kind, parent, node))

    @staticmethod
    def _of_self(
        method: ast.AST,
        prefix: str,
        parent: ast.AST,
        found: dict[str, tuple[str, ast.AST, ast.AST]],
    ) -> None:
        for node in ast.walk(method):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.ctx, ast.Store)
                and isinstance(node.value, ast.Name)
                and node.value.id == "self"
            ):
                found.setdefault(prefix + node.attr, ("member", parent, node))

    def in_braces(self, joined: ast.JoinedStr, pattern: str) -> Iterator[tuple[int, int]]:
        """Yield where a pattern is found in what an f-string puts in."""
        start = self.begin(joined)
        segment = self.text[start : self.end(joined)]
        for at, until in _braces(segment):
            for match in re.finditer(pattern, segment[at:until]):
                yield start + at + match.start(), start + at + match.end()


def _statements(parent: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements of a body, also those within `if`, `with`, `try` and loops."""
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, ast.expr | ast.arguments):
            continue
        yield node
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.Lambda)):
            yield from _statements(node)


def _braces(segment: str) -> Iterator[tuple[int, int]]:
    """Yield the stretches of f-strings between braces, without the strings in them."""
    for token in tokenize.generate_tokens(io.StringIO(f"({segment}\n)").readline):
        if token.type != tokenize.STRING or not re.match(r"(?i)r?f", token.string):
            continue
        lines = f"({segment}\n)".splitlines(keepends=True)
        begin = sum(map(len, lines[: token.start[0] - 1])) + token.start[1] - 1
        text, at, depth, start = token.string, 0, 0, 0
        while at < len(text):
            if depth == 0 and text.startswith(("{{", "}}"), at):
                at += 2
                continue
            if text[at] == "{":
                depth += 1
                start = at + 1 if depth == 1 else start
            elif text[at] == "}" and depth:
                depth -= 1
                if depth == 0:
                    yield begin + start, begin + at
            elif depth and text[at] in "'\"":
                yield begin + start, begin + at
                at = text.index(text[at], at + 1)
                start = at + 1
            at += 1


@dataclass(kw_only=True)
class _Reader:
    module: Module
    scopes: dict[int, Scope] = field(default_factory=dict)
    found: dict[str, list[Occurrence]] = field(default_factory=dict)

    def read(self) -> None:
        top = Scope(node=self.module.tree, outer=None)
        self.scopes[id(self.module.tree)] = top
        for node in self.module.tree.body:
            self._visit(node, top)

    def _visit(self, node: ast.AST, scope: Scope) -> None:  # noqa: C901, PLR0912
        if isinstance(node, _FUNCTIONS):
            self._bind(node.name, scope, self.module.name_begin(node, node.name))
            for one in (*node.decorator_list, *([node.returns] if node.returns else [])):
                self._visit(one, scope)
            self._function(node, scope, node.body)
        elif isinstance(node, ast.Lambda):
            self._function(node, scope, [node.body])
        elif isinstance(node, ast.ClassDef):
            self._bind(node.name, scope, self.module.name_begin(node, node.name))
            for one in (*node.decorator_list, *node.bases, *node.keywords):
                self._visit(one, scope)
            inner = self._scope(node, scope)
            for one in node.body:
                self._visit(one, inner)
        elif isinstance(node, _COMPREHENSIONS):
            inner = self._scope(node, scope)
            for at, generator in enumerate(node.generators):
                self._visit(generator.iter, scope if at == 0 else inner)
                for one in (generator.target, *generator.ifs):
                    self._visit(one, inner)
            for key in ("elt", "key", "value"):
                if hasattr(node, key):
                    self._visit(getattr(node, key), inner)
        elif isinstance(node, ast.Name):
            self._name(node, scope)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                local = alias.asname or alias.name.partition(".")[0]
                scope.bound.add(local)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            scope.free |= set(node.names)
            for name in node.names:
                at = re.compile(rf"\b{name}\b").search(self.module.text, self.module.begin(node))
                self._note(name, scope, at.start() if at else None)
        else:
            if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
                where = self.module.text.rindex(
                    node.name,
                    self.module.begin(node),
                    self.module.begin(node.body[0])
                    if isinstance(node, ast.ExceptHandler)
                    else self.module.end(node),
                )
                self._bind(node.name, scope, where)
            for one in ast.iter_child_nodes(node):
                self._visit(one, scope)

    def _function(self, node: ast.AST, scope: Scope, body: list[ast.AST]) -> None:
        inner = self._scope(node, scope)
        args = node.args  # type: ignore[attr-defined]
        for one in (*args.defaults, *filter(None, args.kw_defaults)):
            self._visit(one, scope)
        for arg in (
            *args.posonlyargs,
            *args.args,
            *args.kwonlyargs,
            *filter(None, (args.vararg, args.kwarg)),
        ):
            self._bind(arg.arg, inner, self.module.begin(arg))
            if arg.annotation:
                self._visit(arg.annotation, scope)
        for one in body:
            self._visit(one, inner)

    def _scope(self, node: ast.AST, outer: Scope) -> Scope:
        self.scopes[id(node)] = Scope(node=node, outer=outer)
        return self.scopes[id(node)]

    def _name(self, node: ast.Name, scope: Scope) -> None:
        if isinstance(node.ctx, ast.Store | ast.Del):
            scope.bound.add(node.id)
        joined = self.module.joined_by.get(id(node))
        begin = None if joined else self.module.begin(node)
        self._note(node.id, scope, begin, joined)

    def _bind(self, name: str, scope: Scope, begin: int) -> None:
        scope.bound.add(name)
        self._note(name, scope, begin)

    def _note(
        self, name: str, scope: Scope, begin: int | None, joined: ast.JoinedStr | None = None
    ) -> None:
        one = Occurrence(name=name, scope=scope, begin=begin, joined=joined)
        self.found.setdefault(name, []).append(one)
