"""Instances: the values that a file is given where it is used (`use "region.qps" as eu with …`).

An instance is the file with everything of its own, under its own name. What it is given stands for
what the file states: expressions, which keep the scope of the text that they stand in, and places,
machines and networks that are those of the using module.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.check.names.declarations import (
    IndexedDeclaration,
    InstanceArgument,
    LoadedModule,
    chooses,
    declared_in,
    kind_of,
    lookup,
    names_of,
    repeated,
)
from qps.compiler.check.names.instance_modes import changes_of
from qps.compiler.check.names.kind_instances import (
    KindDependency,
    divided_by,
    kind_dependencies,
    kinds_in,
    of_kind,
)
from qps.compiler.check.names.name_recorder import Meaning
from qps.compiler.check.names.places import place_of
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Code, Label, Sink
from qps.compiler.diagnostics.fixits import instead, single_statement_hint
from qps.compiler.diagnostics.source import Span
from qps.compiler.diagnostics.suggest import did_you_mean
from qps.compiler.syntax import ast

POPULATION = "population"
"""What the users of a file are called from outside, whatever name it has for them."""

_HARDWARE = (ast.Machine, ast.Network)
_PLACES = (ast.Node, ast.Link)
_ARGUMENT_KINDS = (ast.Users, ast.Option, ast.Param, *_PLACES, *_HARDWARE)


class Instances(Struct, frozen=True):
    """Decides the values of instances; `uses` are modules, each with the one that uses it."""

    sink: Sink
    uses: list[tuple[LoadedModule, LoadedModule]]

    def has_population(
        self, instance: LoadedModule, use: ast.Use, user: LoadedModule, alias: str
    ) -> bool:
        """Return whether a file with users of its own is given their number; else report it."""
        users = _users_of(instance)
        if users is None:
            return True
        known = (POPULATION, users.name.text)
        if any(change.name.text in known for change in use.changes):
            return True
        called = [change for change in use.changes if change.name.text == "users"]
        self.sink.report(
            codes.MISSING_PART,
            use.span,
            f"instance `{alias}` of `{instance.syntax.source.label}` has no population",
            secondary=[Label(users.name.span, "its users")],
            hint=instead(
                "users",
                POPULATION,
                at=called[0].name.span,
                words=f"name it `{POPULATION}`: `{POPULATION} = {called[0].value.span.text}`",
            )
            if called
            else (
                f"set it: `{_with_population(use, user, alias)}`; to use only its machines "
                "and components, move these to a separate file"
            ),
        )
        return False

    def bind_arguments(self) -> None:
        """Note the values that each instance is given; those given further outside win."""
        for instance, user in reversed(self.uses):
            assert instance.used is not None
            self._are_distinct(instance.used.changes)
            changes = self._of_its_kind(instance, user)
            chosen = [change for change in changes if chooses(instance, change.name)]
            for change in sorted(chosen, key=lambda change: change.name.text, reverse=True):
                for own in changes_of(instance, change, self.sink):
                    self._bind_argument(instance, own, instance)
            for change in changes:
                if not chooses(instance, change.name):
                    self._bind_argument(instance, change, user)
        for instance, _ in self.uses:
            self._refuse_circles(instance)

    def _refuse(self, code: Code, span: Span, message: str, hint: str, *labels: Label) -> None:
        self.sink.report(code, span, message, secondary=labels, hint=hint)

    def _are_distinct(self, changes: Iterable[ast.Change]) -> None:
        for change, earlier in repeated(changes, lambda change: change.name.text):
            label = Label(earlier.name.span, "first set here")
            message = f"`{change.name.text}` is set twice here"
            self._refuse(
                codes.DUPLICATE_NAME,
                change.name.span,
                message,
                single_statement_hint(change.span),
                label,
            )

    # -- what is given --------------------------------------------------------------------

    def _bind_argument(
        self, instance: LoadedModule, change: ast.Change, user: LoadedModule
    ) -> None:
        """Note what an instance is given for one of its names, by a text in the module `user`."""
        module, name = self._target(instance, change.name)
        if module is None:
            return
        declaration = module.names.get(name) or module.names.get(name.partition(".")[0])
        if declaration is None:
            return
        if isinstance(change.value, ast.Listed):
            message = f"`{change.name.text}` takes one value, not a list"
            self._refuse(codes.BAD_SETTING, change.value.span, message, "set one value")
            return
        if isinstance(change.value, ast.Range):
            self._refuse(
                codes.BAD_SETTING,
                change.value.span,
                f"`{change.name.text}` takes one value, not a range",
                f"use the population of the spec: `{change.name.text} = N * 50 %`"
                if isinstance(declaration, ast.Users)
                else "set one value",
            )
            change = replace(change, value=change.value.low)
        module.same.pop(name, None)
        module.arguments.pop(name, None)
        if isinstance(declaration, (*_PLACES, *_HARDWARE)):
            self._put(module, change, user, declaration)
        else:
            module.arguments[name] = InstanceArgument(user, change)

    def _target(self, instance: LoadedModule, name: ast.Name) -> tuple[LoadedModule | None, str]:
        """Return the module that has a name of an instance, and the name; others are reported."""
        users = _users_of(instance)
        if name.text == POPULATION and users is not None and POPULATION not in instance.names:
            instance.note(Meaning.WORD, name)
            return instance, users.name.text
        instance.note(Meaning.OWNED, name)
        module, parts = instance, name.parts
        while len(parts) > 1 and parts[0] in module.imports:
            module, parts = module.imports[parts[0]], parts[1:]
        declared = module.names.get(parts[0])
        if len(parts) == 2 and isinstance(declared, ast.Param):  # noqa: PLR2004 - one of its kinds
            kinds = declared.value.entries if isinstance(declared.value, ast.KindTable) else ()
            if parts[1] in [kind.name.text for kind in kinds]:
                return module, ".".join(parts)
        if isinstance(declared, IndexedDeclaration):
            member = declared_in(module, ".".join(parts))
            declared = declared if member is None else member.declaration
        if (
            declared is not None
            and isinstance(declared, _ARGUMENT_KINDS)
            and len(declared.name.parts) == len(parts)
        ):
            return module, declared.name.text
        if declared is not None and len(declared.name.parts) == len(parts):
            self._refuse(
                codes.BAD_SETTING,
                name.span,
                f"`{name.text}` is {kind_of(declared)} and cannot be changed",
                f"set one of them: `{declared.names[0]} = …`"
                if isinstance(declared, IndexedDeclaration)
                else "set a parameter, option, node, link, machine, network or the population",
                Label(declared.name.span, "declared here"),
            )
            return None, ""
        known = list(names_of(instance, _ARGUMENT_KINDS))
        self._refuse(
            codes.BAD_SETTING,
            name.span,
            f"`{instance.syntax.source.label}` has no `{name.text}` to set",
            did_you_mean(name.text, known)
            or (f"name a value of that spec, such as `{known[0]}`" if known else "remove it"),
        )
        return None, ""

    def _put(
        self, module: LoadedModule, change: ast.Change, user: LoadedModule, declaration: ast.Shared
    ) -> None:
        """Note which machine is put in a place, or with which place of the user it is one."""
        assert not isinstance(change.value, ast.Range | ast.Listed)
        kind, name = type(declaration), declaration.name.text
        place = place_of(change.value, user)
        named = None if place is None else lookup(user, place.name)
        is_same = named is not None and isinstance(named.declaration, kind)
        if named is not None and is_same and isinstance(change.value, ast.Reference):
            module.same[name] = named
        elif is_same and kind in _HARDWARE and isinstance(change.value, ast.Call):
            self._refuse(
                codes.BAD_SETTING,
                change.value.span,
                f"machine `{change.name.text}` must be set to a declared machine",
                f"declare it, `machine name = {change.value.span.text}`, and use that name",
                Label(declaration.name.span, "declared here"),
            )
        elif named is not None and is_same:
            assert place is not None
            self._refuse(
                codes.BAD_SETTING,
                change.value.span,
                f"`{place.name.text}` is {kind_of(named.declaration)} that is shared: it "
                "cannot have its own number here",
                instead(
                    change.span.text, f"{change.name.text} = {place.name.text}", at=change.span
                ),
                Label(named.declaration.name.span, "declared here"),
            )
        elif kind in _HARDWARE:
            word = "machine" if kind is ast.Machine else "network"
            self._refuse(
                codes.BAD_SETTING,
                change.value.span,
                f"{word} `{change.name.text}` must be set to another {word}",
                f"name a {word} of this spec; its number belongs to a {_PLACE_OF[word]}",
                Label(declaration.name.span, "declared here"),
            )
        else:
            module.arguments[name] = InstanceArgument(user, change)

    def _of_its_kind(self, instance: LoadedModule, user: LoadedModule) -> tuple[ast.Change, ...]:
        """Return the value that an instance is given, for its kind where there is one for each.

        What is given for one kind alone (`eu.web = big`) goes before what is given for all.
        """
        used = instance.used
        assert used is not None
        kinds = None if used.each is None else user.names.get(used.each.text)
        if not isinstance(kinds, ast.Kinds):
            return used.changes
        kind, known = instance.prefix.rpartition(".")[2], kinds_in(kinds)
        divided = divided_by(kinds, user)
        own, of_all = [], []
        for change in used.changes:
            for way in kind_dependencies(change.value, user, divided) if kind == known[0] else ():
                self._refuse_mean(way, kinds)
            first, *rest = change.name.parts
            if first in known and rest:
                name = change.name.behind(1)
                user.note(Meaning.KIND, change.name.before(1), kinds)
                own += [replace(change, name=name)] * (first == kind)
            else:
                of_all.append(change)
        return tuple(of_kind(c, {kinds.name.text, *divided}, kind) for c in (*of_all, *own))

    def _refuse_mean(self, dependency: KindDependency, kinds: ast.Kinds) -> None:
        """Refuse what would be the mean over all kinds, where one of them alone is meant."""
        named, divided = dependency.named.text, dependency.divided
        message = f"`{named}` depends on `{divided}`, which differs by `{kinds.name.text}`"
        self._refuse(
            codes.BAD_SETTING,
            dependency.named.span,
            f"{message}: here each would use the mean",
            f"write the expression with `{divided}`, which has the value of each kind here",
            Label(kinds.name.span, "one for each kind"),
        )

    def _refuse_circles(self, instance: LoadedModule) -> None:
        """Report places, machines and networks that are each other's, and nothing themselves."""
        for name in list(instance.same):
            if not _is_itself(instance, name):
                continue
            own = instance.names[name]
            del instance.same[name]
            assert instance.used is not None
            self._refuse(
                codes.DEFINITION_CYCLE,
                instance.used.span,
                f"`{instance.qualified(name)}` is set to itself through other instances",
                "set one of them to a value",
                Label(own.name.span, "declared here"),
            )


def _is_itself(module: LoadedModule, name: str) -> bool:
    """Return whether the value given to a name of an instance leads back to it."""
    seen: set[tuple[str, str]] = set()
    while (module.prefix, name) not in seen:
        seen.add((module.prefix, name))
        same = module.same.get(name)
        if same is None:
            return False
        module, name = same.module, same.declaration.name.text
    return True


def _with_population(use: ast.Use, user: LoadedModule, alias: str) -> str:
    """Return how to write that a file is used as an instance, with all users of its user."""
    around = _users_of(user)
    users, name = around.name.text if around else "N", alias
    if use.each is not None:
        users += f" * {use.each.text}"
        name = f"{alias.rpartition('.')[0]} for each {use.each.text}"
    settings = ", ".join([f"{POPULATION} = {users}", *(change.span.text for change in use.changes)])
    return f"use {use.module.span.text} as {name} with {settings}"


_PLACE_OF = {"machine": "node", "network": "link"}


def _users_of(module: LoadedModule) -> ast.Users | None:
    found = (d for d in module.names.values() if isinstance(d, ast.Users))
    return next(found, None)
