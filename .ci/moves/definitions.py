"""Renames of functions, values, parameters and members, wherever they are used.

A parameter is renamed within its function and where a call names it; a function or a value through
imports; a member of a class wherever the name stands behind a dot. Members cannot be told apart by
a tree alone: all members of a name become another one together, unless only their file knows them.
Whatever is not certain is refused, with the reason.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from keyword import iskeyword

from python_files import Edit, edited, narrowed
from scopes import Module, Occurrence, Scope
from tables import dotted

_COPIES = ("replace", "partial")


class RefusedError(Exception):
    """Raised for a name that cannot be renamed safely."""


@dataclass(frozen=True, order=True, kw_only=True)
class Target:
    """A definition: its file and its name with dots, such as `Class.method.parameter`."""

    path: str
    name: str

    @property
    def last(self) -> str:
        """The name alone."""
        return self.name.rpartition(".")[2]


@dataclass(kw_only=True)
class Definitions:
    """All files, and the renames that are to be made in them."""

    modules: dict[str, Module]
    others: dict[str, str] = field(default_factory=dict)
    """Texts that are no Python: templates, which name members too."""
    edits: dict[str, dict[int, Edit]] = field(default_factory=lambda: defaultdict(dict))
    """What becomes new of each file, by where it stands: all of it in one go."""
    changed: dict[str, str] = field(default_factory=dict)
    by_name: dict[str, set[Target]] = field(default_factory=lambda: defaultdict(set))
    sources: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    planned: dict[Target, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Note where each name is defined."""
        for path in self.modules:
            self._note(path)

    @cached_property
    def with_word(self) -> dict[str, list[str]]:
        """The files that have a word, by words that are to be renamed."""
        words = {target.last for target in self.planned}
        found: dict[str, list[str]] = {}
        for path, module in self.modules.items():
            for word in words & module.words:
                found.setdefault(word, []).append(path)
        return found

    def _note(self, path: str) -> None:
        for name in self.modules[path].definitions:
            self.by_name[name.rpartition(".")[2]].add(Target(path=path, name=name))

    def kind(self, target: Target) -> str:
        """Return what a definition is: class, global, member, param or local."""
        return self.modules[target.path].definitions[target.name][0]

    def plan(self, path: str, old: str, new: str) -> bool:
        """Note a row; return whether it is of anything that is there.

        `*.name` is every parameter and every function within others of that name, `@name` every
        member, `name` a definition of a module, `Class.method.parameter` any.
        """
        last = old.lstrip("@*").rpartition(".")[2]
        found = [
            one
            for one in self.by_name.get(last, ())
            if fnmatchcase(one.path, path) and self._fits(one, old)
        ]
        if not found and not old.startswith(("*", "@")):
            # The file may have been split since: there is only one of that name.
            found = [one for one in self.by_name.get(last, ()) if one.name == old]
            found = found if len(found) == 1 else []
        for one in found:
            self.planned.setdefault(one, new)
        return bool(found)

    def _fits(self, target: Target, old: str) -> bool:
        kind = self.kind(target)
        if old.startswith("*."):
            node = self.modules[target.path].definitions[target.name][2]
            return kind == "param" or (kind == "local" and isinstance(node, ast.FunctionDef))
        if old.startswith("@"):
            return kind == "member"
        return target.name == old

    def run(self) -> Iterator[tuple[Target, str, str]]:
        """Make all renames that were planned; yield each, and why it was refused, if so."""
        done: set[Target] = set()
        for target, news in sorted(self.planned.items()):
            if target in done:
                continue
            why = ""
            for new in news.split(","):
                try:
                    together, found = self._found(target, new)
                except (RefusedError, ValueError, KeyError) as error:
                    why = why or f"{type(error).__name__}: {error}"
                    continue
                for path, edits in found.items():
                    for edit in edits:
                        self.edits[path].setdefault(edit.begin, edit)
                done |= together
                why = ""
                break
            yield target, news, why
        for path, by_place in self.edits.items():
            text = self.modules[path].text
            after = narrowed(text, edited(text, list(by_place.values())))
            if after != text:
                ast.parse(after, filename=path)
                self.changed[path] = after

    def _found(self, target: Target, new: str) -> tuple[set[Target], dict[str, list[Edit]]]:
        """Return what is renamed together, and the edits by files."""
        if not new.isidentifier() or iskeyword(new):
            raise RefusedError(f"{new} is no name")
        if self.kind(target) == "member":
            together = self._together(target)
            return together, self._member(together, target.last, new)
        if self.kind(target) == "global" or "." not in target.name:
            return {target}, self._global(target, new)
        return {target}, self._local(target, new)

    # Parameters, and functions and values within functions

    def _local(self, target: Target, new: str) -> dict[str, list[Edit]]:
        module, old = self.modules[target.path], target.last
        kind, parent, _ = module.definitions[target.name]
        scope = module.scopes[id(parent)]
        edits = self._in_scope(module, scope, old, new)
        edits += _in_docstring(module, parent, old, new)
        if kind == "param":
            called = rf"\b{parent.name}\(.*\b({old})="  # type: ignore[attr-defined]
            edits += list(_in_doctests(module, called, new))
        found = {target.path: edits}
        if kind == "param":
            for path, calls in self._keywords(target, parent, new).items():
                found.setdefault(path, []).extend(calls)
        scope.bound.add(new)
        return found

    def _in_scope(self, module: Module, scope: Scope, old: str, new: str) -> list[Edit]:
        if new in dir(builtins):
            raise RefusedError(f"{new} is a builtin")
        if old in scope.free:
            raise RefusedError(f"{old} is of an outer scope")
        mine = [one for one in module.occurrences.get(old, ()) if one.scope.owner(old) is scope]
        inner = {id(one.scope): one.scope for one in mine}
        if new in scope.bound:
            raise RefusedError(f"{new} is bound in {module.path}")
        for one in module.occurrences.get(new, ()):
            at: Scope | None = one.scope
            while at is not None and at is not scope:
                at = at.outer
            if at is scope and (owner := one.scope.owner(new)) is not None:
                outside = scope
                while outside is not None and outside is not owner:
                    outside = outside.outer  # type: ignore[assignment]
                if outside is owner:
                    raise RefusedError(f"{new} is used in {module.path}")
        for one in inner.values():
            at = one
            while at is not scope:
                if at is None or new in at.bound:
                    raise RefusedError(f"{new} is bound within {module.path}")
                at = at.outer
        return list(_edits_of(module, mine, old, new))

    def _keywords(self, target: Target, function: ast.AST, new: str) -> dict[str, list[Edit]]:
        """Return the edits of calls that name a parameter."""
        old, name = target.last, function.name  # type: ignore[attr-defined]
        owner = target.name.rpartition(".")[0].rpartition(".")[0]
        is_method = bool(owner) and self._is_class(target.path, owner)
        if name == "__init__":
            name = owner.rpartition(".")[2]
            is_method = False
        rivals = [
            one
            for one in self.by_name[old]
            if one != target
            and self.kind(one) == "param"
            and one.name.split(".")[-2] == name
            and self.planned.get(one) != new
        ]
        found: dict[str, list[Edit]] = {}
        for path in self.with_word.get(old, ()):
            module = self.modules[path]
            if name not in module.words:
                continue
            for node in module.nodes:
                if not isinstance(node, ast.Call):
                    continue
                called = _last(node.func)
                if called in _COPIES and node.args and _last(node.args[0]) == name:
                    called = name
                if called != name:
                    continue
                for word in node.keywords:
                    if word.arg != old:
                        continue
                    bare = isinstance(node.func, ast.Name)
                    if is_method and bare:
                        continue
                    if not is_method and not self._reaches(module, node.func, name, target.path):
                        continue
                    if rivals and is_method:
                        raise RefusedError(f"{name}({old}=…) in {path} may be of {rivals[0]}")
                    found.setdefault(path, []).append(self._keyword(module, word, old, new))
        return found

    def _keyword(self, module: Module, word: ast.keyword, old: str, new: str) -> Edit:
        if id(word) in module.joined_by:
            raise RefusedError(f"{old}= stands in an f-string of {module.path}")
        begin = module.begin(word)
        return Edit(begin, begin + len(old), new)

    def _is_class(self, path: str, name: str) -> bool:
        kind = self.modules[path].definitions.get(name)
        return kind is not None and isinstance(kind[2], ast.ClassDef)

    def _reaches(self, module: Module, called: ast.expr, name: str, path: str) -> bool:
        """Whether a call is of a function or class of a module, as far as imports show."""
        if module.path == path:
            return True
        sources = self._sources(path, name)
        if isinstance(called, ast.Attribute):
            return ast.unparse(called.value) in _aliases(module, sources)
        return any(
            isinstance(node, ast.ImportFrom)
            and node.module in sources
            and any(alias.name in (name, "*") for alias in node.names)
            for node in module.nodes
        )

    # Functions and values of a module

    def _global(self, target: Target, new: str) -> dict[str, list[Edit]]:
        old, path = target.last, target.path
        sources = self._sources(path, old)
        found: dict[str, list[Edit]] = {}
        for one in self.with_word.get(old, ()):
            module = self.modules[one]
            edits: list[Edit] = []
            aliases = _aliases(module, sources)
            top = module.scopes[id(module.tree)] if one == path else None
            if top is not None:
                edits += self._in_scope(module, top, old, new)
                edits += _in_declaration(module, module.definitions[target.name][2], old, new)
            imported = [
                (node, alias)
                for node in module.nodes
                if isinstance(node, ast.ImportFrom) and node.module in sources
                for alias in node.names
                if alias.name == old
            ]
            for _, alias in imported:
                begin = module.begin(alias)
                edits.append(Edit(begin, begin + len(old), new))
            if any(not alias.asname for _, alias in imported):
                scopes = {
                    id(owner): owner
                    for name in module.occurrences.get(old, ())
                    if (owner := name.scope.owner(old)) is not None
                    and self._imports(owner, old, sources)
                }
                for scope in scopes.values():
                    edits += self._in_scope(module, scope, old, new)
            for node in module.nodes:
                if (
                    isinstance(node, ast.Attribute)
                    and node.attr == old
                    and ast.unparse(node.value) in aliases
                ):
                    if id(node) in module.joined_by:
                        raise RefusedError(f".{old} stands in an f-string of {one}")
                    end = module.end(node)
                    edits.append(Edit(end - len(old), end, new))
            edits += self._in_strings(module, old, new, sources, aliases)
            if edits:
                edits += list(_quoted(module, old, new))
                edits += list(_in_doctests(module, rf"(?<![\w.\"'`])({old})\b(?!=)", new))
                found[one] = edits
        own = self.modules[path]
        own.scopes[id(own.tree)].bound.add(new)
        return found

    @staticmethod
    def _imports(scope: Scope, old: str, sources: set[str]) -> bool:
        """Whether a scope has a name from an import of one of some modules."""
        for node in ast.walk(scope.node):
            if (
                isinstance(node, ast.ImportFrom)
                and node.module in sources
                and any(alias.name == old and not alias.asname for alias in node.names)
            ):
                return True
        return False

    def _in_strings(
        self, module: Module, old: str, new: str, sources: set[str], aliases: set[str]
    ) -> Iterator[Edit]:
        """Yield the edits of strings that name it: `monkeypatch.setattr(module, "name", …)`."""
        for node in module.nodes:
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
                continue
            if any(node.value == f"{source}.{old}" for source in sources):
                end = module.end(node) - 1
                yield Edit(end - len(old), end, new)
        for node in module.nodes:
            if not isinstance(node, ast.Call) or len(node.args) < 2:  # noqa: PLR2004
                continue
            named = node.args[1]
            if (
                isinstance(named, ast.Constant)
                and named.value == old
                and ast.unparse(node.args[0]) in aliases
            ):
                begin = module.begin(named) + 1
                yield Edit(begin, begin + len(old), new)

    def _sources(self, path: str, name: str) -> set[str]:
        """Return the modules in which a name goes by it: its own, and those that hand it on."""
        if (path, name) in self.sources:
            return self.sources[path, name]
        found, before = _names_of(path), set[str]()
        handing = [
            (one, node)
            for one, node in self._imports_at_top
            if any(alias.name in ("*", name) and not alias.asname for alias in node.names)
        ]
        while found != before:
            before = set(found)
            for one, node in handing:
                if node.module in found:
                    found |= _names_of(one)
        self.sources[path, name] = found
        return found

    @cached_property
    def _imports_at_top(self) -> list[tuple[str, ast.ImportFrom]]:
        return [
            (path, node)
            for path, module in self.modules.items()
            for node in module.tree.body
            if isinstance(node, ast.ImportFrom)
        ]

    # Members of classes

    def _together(self, target: Target) -> set[Target]:
        """Return the members of one name that are renamed together: all, or those of a file."""
        old, new = target.last, self.planned[target]
        same = {one for one in self.by_name[old] if self.kind(one) == "member"}
        if old.startswith("_"):
            same = {one for one in same if one.path == target.path}
            users = [
                path
                for path in self.with_word[old]
                if path != target.path
                and any(
                    isinstance(n, ast.Attribute) and n.attr == old for n in self.modules[path].nodes
                )
                and not any(t.path == path and self.kind(t) == "member" for t in self.by_name[old])
            ]
            if users:
                raise RefusedError(f"{users[0]} uses .{old} too")
        if others := [one for one in same if self.planned.get(one) != new]:
            return self._by_class(target, others)
        return same

    def _by_class(self, target: Target, others: Iterable[Target]) -> set[Target]:
        """Return one member alone, where it is used as `self.name` within its class and no more."""
        old = target.last
        if not old.startswith("_"):
            raise RefusedError(f".{old} is {next(iter(others))}, too")
        module = self.modules[target.path]
        classes = [module.definitions[one.name][1] for one in [target, *others]]
        for node in module.nodes:
            if isinstance(node, ast.Attribute) and node.attr == old:
                is_self = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
                inside = any(_encloses(one, node) for one in classes)
                if not (is_self and inside):
                    raise RefusedError(f".{old} in {target.path}:{node.lineno} is of some class")
        return {target}

    def _member(self, targets: set[Target], old: str, new: str) -> dict[str, list[Edit]]:
        kinds = {one for one in self.by_name[old] if self.kind(one) == "member"}
        is_alone = len(targets) == 1 and len(kinds - targets) > 0 and old.startswith("_")
        private = old.startswith("_")
        classes = {one.name.split(".")[-2] for one in targets}
        parents = {
            (one.path, id(self.modules[one.path].definitions[one.name][1])) for one in targets
        }
        if private and kinds - targets == set():
            is_alone = False
        if any(
            new == name.rpartition(".")[2]
            and name.rpartition(".")[0] == one.name.rpartition(".")[0]
            for one in targets
            for name in self.modules[one.path].definitions
        ):
            raise RefusedError(f"{new} is a member already")
        paths = {one.path for one in targets}
        subclasses = self._subclasses(classes) if not private else classes
        found: dict[str, list[Edit]] = {}
        for path in self.with_word.get(old, ()):
            module = self.modules[path]
            if private and path not in paths:
                continue
            edits = list(
                self._of_member(
                    module, parents, subclasses, old, new, alone=is_alone, private=private
                )
            )
            if edits:
                edits += list(_quoted(module, old, new))
                edits += list(_in_doctests(module, rf"(?<=\.)({old})\b", new))
                found[path] = edits
        for path, text in self.others.items():
            if not private and re.search(rf"\.{old}\b", text):
                raise RefusedError(f"{path} has .{old}")
        return found

    def _subclasses(self, names: set[str]) -> set[str]:
        found, before = set(names), set[str]()
        while found != before:
            before = set(found)
            found |= {name for name, bases in self._bases if bases & before}
        return found

    @cached_property
    def _bases(self) -> list[tuple[str, set[str]]]:
        return [
            (
                node.name,
                {
                    _last(base.value if isinstance(base, ast.Subscript) else base)
                    for base in node.bases
                },
            )
            for module in self.modules.values()
            for node in module.nodes
            if isinstance(node, ast.ClassDef)
        ]

    def _of_member(  # noqa: C901, PLR0912
        self,
        module: Module,
        parents: set[tuple[str, int]],
        classes: set[str],
        old: str,
        new: str,
        *,
        alone: bool,
        private: bool,
    ) -> Iterator[Edit]:
        mine = [node for node in module.nodes if (module.path, id(node)) in parents]
        for parent in mine:
            for slots in parent.body:  # type: ignore[attr-defined]
                if isinstance(slots, ast.Assign) and _last(slots.targets[0]) == "__slots__":
                    yield from _in_declaration(module, slots, old, new)
            scope = module.scopes[id(parent)]
            for one in module.occurrences.get(old, ()):
                if one.scope.owner(old) is scope:
                    yield from _edits_of(module, [one], old, new)
        imported = {
            alias.asname or alias.name
            for node in module.nodes
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
            if (alias.asname or alias.name).islower()
        }
        joined: set[int] = set()
        for node in module.nodes:
            if isinstance(node, ast.Attribute) and node.attr == old:
                if isinstance(node.value, ast.Name) and node.value.id in imported and not private:
                    owner = next(
                        (
                            one.scope.owner(node.value.id)
                            for one in module.occurrences[node.value.id]
                            if one.begin == module.begin(node.value)
                        ),
                        None,
                    )
                    if owner is not None and isinstance(owner.node, ast.Module):
                        continue  # a function or value of a module
                if alone and not any(_encloses(one, node) for one in mine):
                    continue
                if one := module.joined_by.get(id(node)):
                    if id(one) not in joined:
                        joined.add(id(one))
                        for begin, end in module.in_braces(one, rf"(?<=\.){old}\b"):
                            yield Edit(begin, end, new)
                    continue
                end = module.end(node)
                yield Edit(end - len(old), end, new)
            elif isinstance(node, ast.Call):
                called = _last(node.func)
                if called in _COPIES or called in classes or called == "cls":
                    for word in node.keywords:
                        if word.arg == old and not _is_of_function(node, classes):
                            yield self._keyword(module, word, old, new)
                if called in ("getattr", "setattr", "hasattr", "attrgetter") and any(
                    isinstance(arg, ast.Constant) and arg.value == old for arg in node.args
                ):
                    for arg in node.args:
                        if isinstance(arg, ast.Constant) and arg.value == old:
                            begin = module.begin(arg) + 1
                            yield Edit(begin, begin + len(old), new)
            elif isinstance(node, ast.MatchClass) and old in node.kwd_attrs:
                raise RefusedError(f"{old} stands in a pattern of {module.path}")


def _is_of_function(node: ast.Call, classes: set[str]) -> bool:
    """Whether `partial(function, old=…)` names a parameter of a function."""
    return bool(_last(node.func) == "partial" and node.args and _last(node.args[0]) not in classes)


def _edits_of(
    module: Module, occurrences: Iterable[Occurrence], old: str, new: str
) -> Iterator[Edit]:
    joined: dict[int, ast.JoinedStr] = {}
    for one in occurrences:
        if one.joined is not None:
            joined[id(one.joined)] = one.joined
        elif one.begin is None:
            raise RefusedError(f"{old} stands in an f-string of {module.path}")
        elif module.text[one.begin : one.begin + len(old)] == old:
            yield Edit(one.begin, one.begin + len(old), new)
    for node in joined.values():
        scopes = {id(one.scope.owner(old)) for one in module.occurrences[old] if one.joined is node}
        if len(scopes) > 1:
            raise RefusedError(f"{old} means two things in an f-string of {module.path}")
        for begin, end in module.in_braces(node, rf"(?<![\w.]){old}\b(?!=[^=])"):
            yield Edit(begin, end, new)


def _in_docstring(module: Module, function: ast.AST, old: str, new: str) -> list[Edit]:
    body = getattr(function, "body", None)
    first = body[0] if isinstance(body, list) and body else None
    if not isinstance(first, ast.Expr) or not isinstance(first.value, ast.Constant):
        return []
    begin, end = module.begin(first), module.end(first)
    return [
        Edit(begin + match.start(1), begin + match.end(1), new)
        for match in re.finditer(rf"`({old})(?=[`.])", module.text[begin:end])
    ]


def _in_declaration(module: Module, node: ast.AST, old: str, new: str) -> Iterator[Edit]:
    """Yield the edits of strings that name it: `T = TypeVar("T")`, `__slots__ = ("name",)`."""
    if not isinstance(node, ast.Assign):
        return
    named = ast.unparse(node.targets[0]) == "__slots__"
    if not named and _last(getattr(node.value, "func", node)) not in ("TypeVar", "NewType"):
        return
    for one in ast.walk(node.value):
        if isinstance(one, ast.Constant) and one.value == old:
            begin = module.begin(one) + 1
            yield Edit(begin, begin + len(old), new)


def _quoted(module: Module, old: str, new: str) -> Iterator[Edit]:
    """Yield the edits of names in back quotes, in comments and docstrings of a file."""
    strings = [
        (module.begin(node.value), module.end(node.value))
        for node in module.nodes
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ]
    for match in re.finditer(rf"`({old})(?=[`.])", module.text):
        line = module.text[module.text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if any(b <= match.start() < e for b, e in strings) or line.lstrip().startswith("#"):
            yield Edit(match.start(1), match.end(1), new)


def _in_doctests(module: Module, pattern: str, new: str) -> Iterator[Edit]:
    """Yield the edits of what a pattern finds in the examples of docstrings."""
    for line in re.finditer(r"(?m)^ *(?:>>>|\.\.\.) .*$", module.text):
        for match in re.finditer(pattern, line[0]):
            at = line.start()
            yield Edit(at + match.start(1), at + match.end(1), new)


def _aliases(module: Module, sources: set[str]) -> set[str]:
    """Return what a file calls some modules."""
    found = set()
    for node in module.nodes:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if f"{node.module}.{alias.name}" in sources:
                    found.add(alias.asname or alias.name)
        elif isinstance(node, ast.Import):
            found |= {alias.asname or alias.name for alias in node.names if alias.name in sources}
    return found


def _encloses(outer: ast.AST, node: ast.AST) -> bool:
    return bool(
        outer.lineno <= node.lineno  # type: ignore[attr-defined]
        and (node.end_lineno or 0) <= (outer.end_lineno or 0)  # type: ignore[attr-defined]
    )


def _last(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _names_of(path: str) -> set[str]:
    """Return the names by which a module may be imported: tests begin below `tests`."""
    parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
    return {dotted(path), ".".join(parts), ".".join(parts[1:])} - {""}
