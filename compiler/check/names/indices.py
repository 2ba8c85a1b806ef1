"""Indices: what a name means in what is declared for each of some kinds.

`web` in a stream in each region is the `web` of that region, `pods` by region its own value and
`region` its own share. Names of what there is one of stay as they are, and so does `web.eu`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from operator import is_
from typing import TypeVar, cast

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler.check.names.declarations import IndexedDeclaration, kind_of
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Code, Label, Sink
from qps.compiler.diagnostics.source import Span
from qps.compiler.quantities import units
from qps.compiler.syntax import ast

W = TypeVar("W", bound=ast.Written)

OVER_ALL = ("max", "min", "sum")
"""What joins the values of all kinds: `max(browse.latency)`."""

_NOT_INDEXED = (ast.Component, ast.Func, ast.Machine, ast.Network, ast.Param)
"""What has one value for all kinds, the mean where it rests on what differs by them."""


class Key(Struct, frozen=True):
    """A kind, `us`, or a pair of kinds, `us` and `eu`."""

    of: str
    kinds: tuple[str, ...]

    @property
    def text(self) -> str:
        """How a message calls it."""
        return " and ".join(f"`{kind}`" for kind in self.kinds)


class Need(Struct, frozen=True):
    """Of which kinds, and of how many of them at once, a name means one."""

    of: str
    many: int


class Indices(Struct, frozen=True, kw_only=True):
    """What a file declares for each of some kinds, and what differs by them.

    `lets` are those that were requested for a kind: they are to be made.
    """

    sink: Sink
    kinds: Mapping[str, tuple[str, ...]]
    declared: Mapping[str, ast.Shared]
    units: frozenset[str] = frozenset()
    families: dict[str, IndexedDeclaration] = field(default_factory=dict)
    lets: dict[tuple[str, Key], ast.Let] = field(default_factory=dict)
    rests: dict[str, frozenset[str]] = field(default_factory=dict)
    refused: set[Span] = field(default_factory=set)

    # -- what is named without saying of which kind -------------------------------------------

    def needs(self, part: ast.Written) -> dict[ast.Name, Need]:
        """Return the names in a part that mean one of several, and of how many kinds at once."""
        found: dict[ast.Name, Need] = {}
        for name in self.names_in(part):
            family = self.families.get(name.parts[0])
            if family is not None and (missing := self._missing(family, name)):
                found[name] = Need(family.kinds, missing)
        return found

    def names_in(self, part: ast.Written) -> Iterator[ast.Name]:
        """Yield the names in a part; what `max` joins and what is changed is said of all."""
        if isinstance(part, ast.Name):
            yield part
        elif (
            not isinstance(part, ast.Change)
            and not self._is_over_all(part)
            and not self._is_unit(part)
        ):
            for one in _parts(part):
                yield from self.names_in(one)

    def _is_over_all(self, part: ast.Written) -> bool:
        return (
            isinstance(part, ast.Call) and part.name.text in OVER_ALL and len(part.arguments) == 1
        )

    def _is_unit(self, part: ast.Written) -> bool:
        """Return whether a name behind a number is a unit."""
        if not isinstance(part, ast.Reference) or not part.is_unit:
            return False
        name = part.name.text
        return units.built_in(name) is not None or name in self.units

    def _missing(self, family: IndexedDeclaration, name: ast.Name) -> int:
        """Return how many kinds are to be said of a name: `web` lacks one, `web.eu` none."""
        wanted, known = len(family.keys[0]), self.kinds[family.kinds]
        said = 0
        for word in name.parts[1 : wanted + 1]:
            if word not in known:
                break
            said += 1
        return wanted - said

    def keys(self, part: ast.Written) -> tuple[Key, ...] | None:
        """Return for which kinds a part is said; none where it names one of each, or is reported.

        Where several are named, these are the kinds that all of them have.
        """
        needs = self.needs(part)
        if not needs:
            return ()
        (first, need), *others = needs.items()
        for name, other in others:
            if other != need:
                self._refuse(
                    codes.MISPLACED,
                    name.span,
                    f"`{name.text}` is declared for {_each(other)}, `{first.text}` for "
                    f"{_each(need)}: the index is ambiguous",
                    f"name one of them, such as `{self._example(name)}`",
                    Label(first.span, "used here"),
                )
                return None
        if need.many == 1:
            common: list[tuple[str, ...]] = [(kind,) for kind in self.kinds[need.of]]
        else:
            common = list(self.families[first.parts[0]].keys)
        for name in needs:
            family = self.families[name.parts[0]]
            if len(family.keys[0]) == need.many:
                common = [key for key in common if key in family.keys]
        return tuple(Key(need.of, key) for key in common)

    def _example(self, name: ast.Name) -> str:
        """Return how one is called of which nothing is said but that there is one of each."""
        family = self.families[name.parts[0]]
        said = len(family.keys[0]) - self._missing(family, name)
        return ".".join((family.names[0], *name.parts[1 + said :]))

    # -- what a name is for one kind ----------------------------------------------------------

    def at(self, part: W, key: Key | None) -> W:
        """Return a part of the tree as it is for one kind; without one, only what joins all."""
        if isinstance(part, ast.Name):
            return part if key is None else cast("W", self._name_at(part, key))
        if isinstance(part, ast.Call) and self._is_over_all(part):
            return cast("W", self._over_all(part, key))
        if self._is_unit(part):
            return part
        changed = {}
        for name in part.__struct_fields__:
            before = getattr(part, name)
            after = self._field_at(before, key)
            if after is not before:
                changed[name] = after
        return replace(part, **changed) if changed else part

    def _field_at(self, value: object, key: Key | None) -> object:
        if isinstance(value, tuple):
            found: list[object] = []
            for one in value:
                if isinstance(one, ast.Change):
                    found += self._changes(one)
                else:
                    found.append(self._field_at(one, key))
            is_same = len(found) == len(value) and all(map(is_, found, value))
            return value if is_same else tuple(found)
        return self.at(value, key) if isinstance(value, ast.Written) else value

    def _changes(self, change: ast.Change) -> Iterator[ast.Change]:
        """Yield a change, of what there is for each kind one for each of them."""
        for key in self.keys(change.name) or (None,):
            name = self.at(change.name, key)
            yield replace(change, name=name, value=self.at(change.value, key))

    def _over_all(self, call: ast.Call, key: Key | None) -> ast.Expr:
        """Return `max(browse.latency)` as that of the latencies of all kinds."""
        (inner,) = call.arguments
        keys = self.keys(inner)
        if not keys:
            made = inner if call.name.text == "sum" else self.at(inner, key)
            return replace(call, arguments=(made,))
        values = tuple(self.at(inner, one) for one in keys)
        if call.name.text != "sum" and len(values) > 1:
            return replace(call, arguments=values)
        return ast.Sum(call.span, tuple((False, value) for value in values))

    def _name_at(self, name: ast.Name, key: Key) -> ast.Name:
        base = name.parts[0]
        family = self.families.get(base)
        if family is not None:
            return self._member(name, family, key)
        of = self.by(base)
        if of is not None:
            return self._own(name, of, key) if len(name.parts) == 1 else name
        declared = self.declared.get(base)
        if len(name.parts) == 1 and declared is not None and key.of in self.resting(base):
            return self._resting(name, declared, key)
        return name

    def by(self, name: str) -> str | None:
        """Return the kinds that a parameter differs by, or the kinds that are named."""
        declared = self.declared.get(name)
        if isinstance(declared, ast.Param) and isinstance(declared.value, ast.KindTable):
            return declared.value.kinds.text
        return name if isinstance(declared, ast.Kinds) else None

    def _own(self, name: ast.Name, of: str, key: Key) -> ast.Name:
        """Return the value of a parameter, or the share, of one kind."""
        if of != key.of:
            return name
        if len(key.kinds) > 1:
            self._refuse(
                codes.MISPLACED,
                name.span,
                f"`{name.text}` differs by `{of}`, but this is for a pair: its end is ambiguous",
                f"name one, such as `{name.text}.{key.kinds[0]}`, or combine both outside",
            )
            return replace(name, parts=(*name.parts, key.kinds[0]))
        return replace(name, parts=(*name.parts, *key.kinds))

    def _member(self, name: ast.Name, family: IndexedDeclaration, key: Key) -> ast.Name:
        """Return the one of a kind among those that there are for each."""
        missing = self._missing(family, name)
        if not missing:
            return name
        one = replace(name, parts=tuple(self._example(name).split(".")))  # where none is meant
        what = f"`{name.parts[0]}`"
        label = Label(family.name.span, "declared here")
        if family.kinds != key.of:
            self._refuse(
                codes.MISPLACED,
                name.span,
                f"{what} is declared for {_each(Need(family.kinds, missing))}, but this "
                f"is for each `{key.of}`: it is ambiguous",
                f"name it: `{self._example(name)}`",
                label,
            )
            return one
        if missing != len(key.kinds):
            kinds_text = "two kinds" if missing > 1 else "one kind"
            self._refuse(
                codes.MISPLACED,
                name.span,
                f"{what} is for {kinds_text}, but this is for {key.text}",
                f"name it: `{self._example(name)}`"
                if len(key.kinds) > 1
                else f"name the other end: `{name.text}.{self.kinds[key.of][-1]}`",
                label,
            )
            return one
        said = len(family.keys[0]) - missing
        whole = (*key.kinds, *name.parts[1 : 1 + said])
        if said == 0 and whole not in family.keys:
            self._refuse(
                codes.UNKNOWN_NAME,
                name.span,
                f"{what} is not declared for {key.text}",
                f"exclude it here, too: `each {family.kinds} but {', '.join(key.kinds)}`, "
                f"or name another one, such as `{self._example(name)}`",
                label,
            )
            return one
        return replace(name, parts=(name.parts[0], *whole, *name.parts[1 + said :]))

    # -- what rests on what differs -----------------------------------------------------------

    def resting(self, name: str) -> frozenset[str]:
        """Return the kinds by which differs what a definition rests on."""
        if name not in self.rests:
            self.rests[name] = frozenset()  # what rests on itself is reported elsewhere
            own = self.declared.get(name)
            found: set[str] = set()
            if isinstance(own, (ast.Let, *_NOT_INDEXED)):
                formals = {formal.name.text for formal in getattr(own, "formals", ())}
                for one in self.names_in(own):
                    base = one.parts[0]
                    if len(one.parts) == 1 and base not in formals and base != name:
                        of = self.by(base)
                        found |= self.resting(base) if of is None else {of}
            self.rests[name] = frozenset(found)
        return self.rests[name]

    def _resting(self, name: ast.Name, declared: ast.Shared, key: Key) -> ast.Name:
        """Return a `let` as it is for a kind; what is made once for all is refused."""
        if isinstance(declared, ast.Let):
            self.lets.setdefault((name.text, key), declared)
            return replace(name, parts=(*name.parts, *key.kinds))
        differing = next(
            one
            for one in self.names_in(declared)
            if one.text != name.text and key.of in ({self.by(one.text)} | self.resting(one.text))
        )
        is_param = isinstance(declared, ast.Param)
        self._refuse(
            codes.MISPLACED,
            name.span,
            f"`{name.text}` is {kind_of(declared)} for all of `{key.of}`: here it would "
            f"use the mean of `{differing.text}`, not the value for {key.text}",
            f"declare it with `let`, or as a parameter by `{key.of}`"
            if is_param
            else (
                f"pass the value as an argument, `{name.text}({differing.text})`, and declare "
                "the argument"
            ),
            Label(differing.span, "used here"),
        )
        return name

    def _refuse(self, code: Code, span: Span, message: str, hint: str, *labels: Label) -> None:
        """Report what is said for each kind: once, not once for each."""
        if span not in self.refused:
            self.refused.add(span)
            self.sink.report(code, span, message, secondary=labels, hint=hint)


def _each(need: Need) -> str:
    return f"each pair of `{need.of}`" if need.many > 1 else f"each `{need.of}`"


def _parts(part: ast.Written) -> Iterator[ast.Written]:
    for name in part.__struct_fields__:
        yield from _written(getattr(part, name))


def _written(value: object) -> Iterable[ast.Written]:
    if isinstance(value, tuple):
        for one in value:
            yield from _written(one)
    elif isinstance(value, ast.Written):
        yield value
