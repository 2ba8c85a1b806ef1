"""What an index can be: kinds of the file, pairs of them, tables of what is between them."""

from __future__ import annotations

from itertools import combinations

from msgspec import Struct

from qps.compiler.check.names.declarations import kind_of, repeated
from qps.compiler.check.names.indices import Indices
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Code, Label, Sink
from qps.compiler.diagnostics.fixits import single_statement_hint
from qps.compiler.diagnostics.source import Span
from qps.compiler.diagnostics.suggest import offered
from qps.compiler.syntax import ast

MOST_OF_EACH = 5_000
"""Declarations that a file comes to by its indices, beyond which they are refused."""

_EACH_USER = "user"
_MOST_REPORTED = 3


class IndexChecker(Struct, frozen=True, kw_only=True):
    """Checks indices against the kinds of a file."""

    sink: Sink
    indices: Indices

    def _refuse(self, code: Code, span: Span, message: str, hint: str, *labels: Label) -> None:
        self.sink.report(code, span, message, secondary=labels, hint=hint)

    def is_kinds(self, name: ast.Name) -> bool:
        """Return whether a name is one of kinds in this file; else it is reported."""
        if name.text in self.indices.kinds:
            return True
        declared = self.indices.declared.get(name.text)
        if declared is not None:
            self._refuse(
                codes.WRONG_KIND,
                name.span,
                f"`{name.text}` is {kind_of(declared)}, not a set of kinds",
                "`for each` needs a set of kinds: `kinds region { us 50 %; eu 50 % }`",
                Label(declared.name.span, "declared here"),
            )
            return False
        self._refuse(
            codes.UNKNOWN_NAME,
            name.span,
            f"unknown set of kinds `{name.text}`",
            offered(
                name.text,
                self.indices.kinds,
                f"declare it in this file: `kinds {name.parts[-1]} {{ us 50 %; eu 50 % }}`",
            ),
        )
        return False

    def of_index(self, index: ast.Index) -> tuple[tuple[str, ...], ...]:
        """Return the kinds of an index, or pairs of them; none where it was reported."""
        if not self.is_kinds(index.kinds):
            return ()
        kinds = self.indices.kinds[index.kinds.text]
        for name in index.but:
            if name.text not in kinds:
                self._no_kind(name, index.kinds.text)
        for name, earlier in repeated(index.but, lambda name: name.text):
            self._refuse(
                codes.DUPLICATE_NAME,
                name.span,
                f"`{name.text}` is excluded twice",
                "remove one of them",
                Label(earlier.span, "first specified here"),
            )
        left = [kind for kind in kinds if kind not in [name.text for name in index.but]]
        if index.is_pair:
            if len(kinds) * (len(kinds) - 1) // 2 > MOST_OF_EACH:
                left = left[:2]
                self._too_many_pairs(index.kinds, len(kinds))
            found = tuple(combinations(left, 2))
            if not found:
                self._refuse(
                    codes.MISPLACED,
                    index.span,
                    f"`{index.kinds.text}` has only one kind, so no pairs",
                    "write `for each`, or add kinds",
                )
            return found
        if not left:
            self._refuse(
                codes.MISPLACED,
                index.span,
                f"all kinds of `{index.kinds.text}` are excluded",
                "exclude fewer kinds, or remove the line",
            )
        return tuple((kind,) for kind in left)

    def _too_many_pairs(self, name: ast.Name, count: int) -> None:
        self._refuse(
            codes.TOO_DEEP,
            name.span,
            f"the {count:,} kinds of `{name.text}` have {count * (count - 1) // 2:,} pairs, more "
            f"than {MOST_OF_EACH:,}",
            "merge similar kinds",
        )

    def _no_kind(self, name: ast.Name, kinds: str) -> None:
        self._refuse(
            codes.UNKNOWN_NAME,
            name.span,
            f"`{kinds}` has no kind `{name.text}`",
            offered(name.text, self.indices.kinds[kinds]),
        )

    def of_table(self, param: ast.Param, table: ast.PairTable) -> tuple[tuple[str, ...], ...]:
        """Return the pairs of a table; none where one is missing, or it is of two sets of kinds."""
        if not self.is_kinds(table.kinds):
            return ()
        if table.others.text != table.kinds.text:
            if self.is_kinds(table.others):
                self._refuse(
                    codes.MISPLACED,
                    table.others.span,
                    "a table needs pairs of one set of kinds, not of "
                    f"`{table.kinds.text}` and `{table.others.text}`",
                    f"write `by {table.kinds.text}, {table.kinds.text}`",
                )
            return ()
        kinds = self.indices.kinds[table.kinds.text]
        pairs = tuple(combinations(kinds, 2))
        if len(pairs) > MOST_OF_EACH:
            self._too_many_pairs(table.kinds, len(kinds))
            return ()
        found: dict[frozenset[str], ast.PairValue] = {}
        is_sound = True
        for entry in table.entries:
            unknown = [name for name in (entry.one, entry.other) if name.text not in kinds]
            for name in unknown:
                self._no_kind(name, table.kinds.text)
            is_sound &= not unknown
            pair = frozenset((entry.one.text, entry.other.text))
            is_sound &= bool(unknown) or self._is_new(entry, found.get(pair))
            found.setdefault(pair, entry)
        missing = [pair for pair in pairs if frozenset(pair) not in found]
        if missing and is_sound:
            missing_text = ", ".join(f"`{one} {other}`" for one, other in missing[:_MOST_REPORTED])
            self._refuse(
                codes.MISSING_PART,
                param.name.span,
                f"`{param.name.text}` has no value for the pair "
                + (
                    missing_text
                    if len(missing) <= _MOST_REPORTED
                    else f"{missing_text} and {len(missing) - _MOST_REPORTED} more pairs"
                ),
                f"add a line for each pair: `{' '.join(missing[0])} "
                f"{table.entries[0].value.span.text if table.entries else '40 ms'}`",
            )
        return pairs if is_sound and not missing else ()

    def _is_new(self, entry: ast.PairValue, earlier: ast.PairValue | None) -> bool:
        """Return whether a pair is said once, or once each way with the same value."""
        if earlier is None:
            return True
        is_same_way = earlier.one.text == entry.one.text
        if not is_same_way and earlier.value.span.text == entry.value.span.text:
            return True
        self._refuse(
            codes.DUPLICATE_NAME,
            entry.span,
            f"`{entry.one.text} {entry.other.text}` is specified twice"
            + ("" if is_same_way else " with different values, and tables are symmetric"),
            single_statement_hint(
                entry.span,
                "remove one of them"
                + ("" if is_same_way else "; for values by direction use two tables"),
            ),
            Label(earlier.span, "first specified here"),
        )
        return False

    def is_of_each(self, stream: ast.Stream) -> None:
        """Report a stream in each region whose flows come from what there is one of for all."""
        assert stream.index is not None
        kinds, whose = stream.index.kinds.text, stream.whose
        if isinstance(whose, ast.InAll):
            return
        at = next((item.node for item in stream.items if isinstance(item, ast.At)), None)
        name = at if whose is None else whose.name
        if name is None or name.text == _EACH_USER or self._is_one_of(name, kinds):
            return
        declared = self.indices.declared.get(name.text)
        if not isinstance(declared, ast.Node | ast.Group):
            return
        word = "node" if isinstance(declared, ast.Node) else "group"
        written = f"node {name.text} for each {kinds} = …"
        if word == "group":
            written = f"{declared.span.text} in each {kinds}"
        self._refuse(
            codes.MISPLACED,
            name.span,
            f"{word} `{name.text}` is shared by all kinds of `{kinds}`",
            f"declare one per kind, `{written}`; or write `for each {kinds}` for one flow per kind",
            Label(declared.name.span, "declared here"),
        )

    def is_within(self, stream: ast.Stream) -> None:
        """Report what is sent within groups that have members of all kinds."""
        assert stream.index is not None
        kinds = stream.index.kinds.text
        for name in self.indices.names_in(stream):
            declared = self.indices.declared.get(name.text)
            whose = stream.whose.name if isinstance(stream.whose, ast.Each | ast.EachPair) else None
            if isinstance(declared, ast.Group) and name is not whose and declared.index is None:
                self._refuse(
                    codes.MISPLACED,
                    name.span,
                    f"members of `{name.text}` are spread over all kinds of `{kinds}`, "
                    "but this stream stays within one",
                    f"to keep members together, write `{declared.span.text} in each "
                    f"{kinds}`; otherwise use a stream and nodes for all kinds",
                    Label(declared.name.span, "declared here"),
                )

    def _is_one_of(self, name: ast.Name, kinds: str) -> bool:
        family = self.indices.families.get(name.parts[0])
        return family is not None and family.kinds == kinds
