"""What can stand at a place: by the words before it, as the grammar reads them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from qps.compiler.check.claims.check_matrices import ANSWERS
from qps.compiler.ir.measure_names import CAPACITY
from qps.compiler.ir.requirements import Metric
from qps.compiler.quantities.dimension import (
    DATA_RATE,
    DIMENSIONLESS,
    INFORMATION,
    TIME,
    Dimension,
)
from qps.compiler.quantities.disciplines import DISCIPLINES
from qps.compiler.syntax import ast
from qps.compiler.syntax.editions import EDITION
from qps.editing.open_blocks import open_bracket, statement_head
from qps.grammar.parsing import SEPARATOR, Token

VALUES: tuple[type, ...] = (ast.Param, ast.Let, ast.Measure, ast.Users, ast.Func)
PLACES: tuple[type, ...] = (ast.Node, ast.Link, ast.Stream)
SETTABLE: tuple[type, ...] = (ast.Param, ast.Option, ast.Users, ast.Node, ast.Link, ast.Group)
_OF_ANSWERS = frozenset(
    ["REQUIRE", "EXPECT", "MEASURE", "FIGURE", "MATRIX", "OBSERVE", "QUALITY", "MODE"]
)
"""Declarations that name loads and latencies: what a place or a stream comes to."""

_BEHIND: dict[str, tuple[type, ...]] = {
    "AT": (ast.Node,),
    "OVER": (ast.Link,),
    "BETWEEN": (ast.Node,),
    "_RUN": (ast.Component,),
    "_CALL": (ast.Node,),
    "ON": (ast.Machine,),
    "EACH": (ast.Node, ast.Group, ast.Kinds, ast.Users),
    "BY": (ast.Kinds, ast.Option),
    "TO": (ast.Node,),
    "ALL": (ast.Node,),
    "BUT": (ast.Node,),
}
"""What stands right behind a word."""

_GLUED: dict[str, tuple[type, ...]] = {"run": (ast.Component,), "call": (ast.Node,)}
"""What stands behind words that are words of the language by what follows them alone."""
_POOL_WORDS = ("take", "give")
_STEPS = ("call", *_POOL_WORDS, "together")
_STARTS = (SEPARATOR, "LBRACE", "COLON")
_STEP_BLOCKS = ("AT", "_CALL", "_TOGETHER", "_ONE_OF_STEPS")
_CHOSEN_BY = ("scenario", "mode")
_OF_A_RESOURCE = ("idle", "jitter", "efficiency")
_OF_CALLS: dict[str, tuple[type, ...]] = {
    "count": (ast.Node, ast.Group),
    "members": (ast.Group,),
    "quantile": (ast.Stream,),
    "saturation": (ast.Node, ast.Link),
    "sum": (ast.Param,),
}
"""What functions of names take."""


class ExpectedNames(Struct, frozen=True, kw_only=True):
    """Which kinds of names are wanted: units, `modules` of the library, things to set, or values.

    With `of_answers` also what only an answer has. A value is `compared` with a name that was
    written, or is to be of a `dimension`; `set_to` names what is set, `kinds_of` a set of kinds.
    `words` are those that stand here, `resources` those of machines; `first` are the kinds of names
    that are likelier than others, `suits` says which dimensions are. `events` are those of the
    stream at hand. It `is_certain` where the grammar does not say that a name may stand.
    """

    kinds: tuple[type, ...] = ()
    first: tuple[type, ...] = ()
    units: bool = False
    below: bool = False
    modules: bool = False
    functions: bool = False
    of_answers: bool = False
    resources: bool = False
    compared: str = ""
    set_to: str = ""
    kinds_of: str = ""
    words: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    dimension: Dimension | None = None
    suits: Callable[[Dimension], bool] | None = None
    is_certain: bool = False


class _Place(Struct, frozen=True):
    """A place behind some words of a declaration."""

    tokens: Sequence[Token]
    text: str

    @property
    def last(self) -> str:
        return self.tokens[-1].type

    @property
    def declaration(self) -> str:
        return self.tokens[0].type

    @property
    def head(self) -> str:
        """The word that the statement at hand starts with."""
        return statement_head(self.tokens)

    @property
    def is_start(self) -> bool:
        return self.last in (SEPARATOR, "LBRACE")

    @property
    def block(self) -> str:
        """The word that the innermost open block starts with."""
        opened = open_bracket(self.tokens, "LBRACE", "RBRACE")
        return "" if opened is None else statement_head(self.tokens[:opened])

    @property
    def is_in_steps(self) -> bool:
        """Whether steps of a stream stand here: at a node, in a call, or after a probability."""
        opened = open_bracket(self.tokens, "LBRACE", "RBRACE")
        if self.declaration != "STREAM" or opened is None:
            return False
        return self.tokens[opened - 1].type == "COLON" or self.block in _STEP_BLOCKS

    @property
    def events(self) -> tuple[str, ...]:
        """The events of the stream at hand, as far as it is written."""
        named = zip(self.tokens, self.tokens[1:], strict=False)
        return tuple(name.text for word, name in named if word.type == "EVENT")

    def name_before(self, index: int) -> str:
        """Return the dotted name that ends before a token, empty for none."""
        first = index
        while first and self.tokens[first - 1].type in ("NAME", "DOT", "LOAD", "PRIORITY"):
            first -= 1
        return self.text[self.tokens[first].start : self.tokens[index].start].strip()


def wanted(tokens: Sequence[Token], text: str) -> ExpectedNames:
    """Return what is wanted behind the tokens of a declaration."""
    if not tokens:
        return ExpectedNames()
    place = _Place(tokens, text)
    return next(filter(None, (rule(place) for rule in _RULES)), None) or _value(place)


# -- what stands by itself -----------------------------------------------------------------


def _alone(place: _Place) -> ExpectedNames | None:
    """Return what declarations want that want one thing alone."""
    if place.declaration == "USE" and "WITH" not in [one.type for one in place.tokens]:
        return ExpectedNames(modules=True)
    match place.last:
        case "EDITION":
            return ExpectedNames(words=(str(EDITION),), is_certain=True)
        case "QUALITY" if place.declaration == "QUALITY":
            metrics = [one.value for one in Metric if one is not Metric.FORMULA]
            return ExpectedNames(words=tuple(metrics))
        case "CORRELATION":
            return ExpectedNames(kinds=(ast.Param,))
        case "TARGET":
            return ExpectedNames(kinds=(ast.Node, ast.Link), resources=True)
        case "OF" if place.tokens[-2].type == "CONFIGURATIONS":
            return ExpectedNames(kinds=(ast.Matrix,))
    return None


def _unit(place: _Place) -> ExpectedNames | None:
    """Return that units are wanted: behind a number, and what divides there."""
    kinds = [token.type for token in place.tokens[-3:]]
    below = place.last == "SLASH" and kinds[:2] == ["NUMBER", "NAME"]
    return ExpectedNames(units=True, below=below) if place.last == "NUMBER" or below else None


def _queueing(place: _Place) -> ExpectedNames | None:
    """Return what waits, or how."""
    kinds = [token.type for token in place.tokens[-2:]]
    if place.declaration in ("MACHINE", "NETWORK") and kinds[-1] == "QUEUEING":
        return ExpectedNames(words=tuple(DISCIPLINES))
    if place.declaration != "QUEUEING":
        return None
    if kinds[-1] in ("QUEUEING", "COMMA"):
        return ExpectedNames(kinds=(ast.Node, ast.Link), resources=True)
    return ExpectedNames(words=tuple(DISCIPLINES)) if kinds[-1] == "NAME" else None


# -- what is changed -----------------------------------------------------------------------

_OFTEN_SET = (ast.Param, ast.Option)
_CHANGING = ("SCENARIO", "EXPECT", "FIGURE", "MATRIX", "OBSERVE", "MODE", "USE")


def _change(place: _Place) -> ExpectedNames | None:
    """Return what can be set, and what to."""
    if place.declaration not in _CHANGING:
        return None
    if place.declaration in ("SCENARIO", "MODE", "MATRIX") and place.is_start:
        answers = place.declaration == "MODE"
        kinds = (*SETTABLE, *(PLACES if answers else ()))
        return ExpectedNames(kinds=kinds, first=_OFTEN_SET, words=_CHOSEN_BY, of_answers=answers)
    if place.last == "WITH" or (place.last == "COMMA" and _is_among_changes(place)):
        return ExpectedNames(kinds=SETTABLE, first=_OFTEN_SET, words=_CHOSEN_BY)
    at = len(place.tokens) - 1
    if place.last in ("LSQB", "COMMA"):
        opened = open_bracket(place.tokens, "LSQB", "RSQB")
        at = -1 if opened is None else opened - 1
    if at < 1 or place.tokens[at].type not in ("EQUAL", "IN"):
        return None
    is_named = place.tokens[at - 1].type in ("NAME", "TOLD")
    named = place.name_before(at) if is_named else ""
    if not named or (place.tokens[at].type == "IN" and place.tokens[-1].type == "IN"):
        return None
    if place.head in ("COLUMN", "_COLUMN", "EXPECT", "FIGURE") and place.declaration == place.head:
        return None
    return ExpectedNames(kinds=VALUES, functions=True, set_to=named, compared=named)


def _is_among_changes(place: _Place) -> bool:
    """Return whether a comma stands behind a change: `with a = 1,`."""
    kinds = [one.type for one in place.tokens]
    inside = open_bracket(place.tokens, "LSQB", "RSQB") or open_bracket(
        place.tokens, "LPAR", "RPAR"
    )
    return "WITH" in kinds and inside is None and kinds[-2] != "RSQB"


def _matrix(place: _Place) -> ExpectedNames | None:
    """Return columns of a matrix, where rows are chosen or put in order."""
    if place.declaration != "MATRIX":
        return None
    if place.head in ("_SELECT", "_ORDER") and place.last in ("_SELECT", "BY", "COMMA"):
        return ExpectedNames(kinds=SETTABLE, words=ANSWERS)
    if place.last in ("_WHERE", "_EXCLUDE"):
        return ExpectedNames(
            kinds=(*SETTABLE, ast.Stream), words=ANSWERS, of_answers=True, functions=True
        )
    return None


# -- parts of declarations -----------------------------------------------------------------

_DECLARED = {"MACHINE": ast.Machine, "NETWORK": ast.Network, "COMPONENT": ast.Component}


def _hardware(place: _Place) -> ExpectedNames | None:
    """Return machines and networks where something is made of one, and what these have."""
    last, head = place.last, place.head
    if head == "NODE" and last == "EQUAL":
        return ExpectedNames(kinds=(ast.Machine,))
    if head == "LINK" and place.declaration == "TOPOLOGY":
        return ExpectedNames(kinds=(ast.Network,) if last == "EQUAL" else (ast.Node,))
    if place.declaration in _DECLARED and last == "EQUAL":
        return ExpectedNames(kinds=(_DECLARED[place.declaration],))
    if place.declaration == "MACHINE":
        if place.is_start or last == "WITH":
            return ExpectedNames(resources=True)
        if last == "COMMA" and open_bracket(place.tokens, "LPAR", "RPAR") is None:
            return ExpectedNames(
                words=_OF_A_RESOURCE, resources="WITH" in [t.type for t in place.tokens]
            )
    return None


def _work(place: _Place) -> ExpectedNames | None:
    """Return what is done: steps of a stream, costs of a component."""
    before = place.tokens[-2].type if len(place.tokens) > 1 else ""
    if place.is_in_steps and (place.is_start or place.last == "COLON"):
        is_chosen = place.is_start and place.block == "_ONE_OF_STEPS"
        kinds = (ast.Param, ast.Let) if is_chosen else (ast.Component,)
        return ExpectedNames(kinds=kinds, words=() if is_chosen else _STEPS, events=place.events)
    if place.is_in_steps and place.last == "NOT" and before in _STARTS:
        return ExpectedNames(events=place.events)
    if place.is_start and place.declaration == "COMPONENT":
        return ExpectedNames(resources=True, words=("run",))
    if place.last != "NAME" or before not in _STARTS:
        return None
    word = place.tokens[-1].text
    if word == "run" and place.declaration == "COMPONENT":
        return ExpectedNames(kinds=_GLUED[word], is_certain=True)
    if place.is_in_steps:
        if word in _POOL_WORDS:
            return ExpectedNames(resources=True, is_certain=True)
        if word == "call":
            return ExpectedNames(kinds=_GLUED[word], is_certain=True)
    return None


def _behind_a_word(place: _Place) -> ExpectedNames | None:
    """Return what stands right behind a word."""
    last, kinds = place.last, [one.type for one in place.tokens]
    if place.declaration == "FIGURE" and last == "OVER":
        return ExpectedNames(kinds=(ast.Users, ast.Param))
    if last == "IN" and place.declaration == "STREAM" and place.block:
        return ExpectedNames(kinds=(ast.Group,))
    if last == "COMMA" and place.head in ("OVER", "BUT"):
        return ExpectedNames(kinds=(ast.Link if place.head == "OVER" else ast.Node,))
    if last == "LBRACE" and place.declaration == "PARAM" and "BY" in kinds:
        return ExpectedNames(kinds_of=place.tokens[kinds.index("BY") + 1].text)
    if last == SEPARATOR and place.declaration == "PARAM" and "BY" in kinds:
        return ExpectedNames(kinds_of=place.tokens[kinds.index("BY") + 1].text)
    return ExpectedNames(kinds=_BEHIND[last]) if last in _BEHIND else None


def _called(place: _Place) -> ExpectedNames | None:
    """Return what a function of names takes: `count(`."""
    if place.last != "LPAR" or len(place.tokens) < 2:  # noqa: PLR2004
        return None
    kinds = _OF_CALLS.get(place.tokens[-2].text)
    return None if kinds is None else ExpectedNames(kinds=kinds)


_RULES: tuple[Callable[[_Place], ExpectedNames | None], ...] = (
    _alone, _unit, _queueing, _matrix, _change, _hardware, _work, _behind_a_word, _called,
)  # fmt: skip


# -- values --------------------------------------------------------------------------------

_OF_WORDS = {
    "rate": DATA_RATE,
    "propagation": TIME,
    "think": TIME,
    "playout": TIME,
    "delay": TIME,
    "loss": DIMENSIONLESS,
}
"""Of which dimension what stands behind a word is."""
_LOGICAL = ("IF", "NOT", "AND", "OR")


def _value(place: _Place) -> ExpectedNames:
    """Return that a value is wanted, or what a condition compares."""
    of_answers = place.declaration in _OF_ANSWERS
    places = PLACES if of_answers else ()
    first: tuple[type, ...] = ()
    if place.last in _LOGICAL:
        first = (ast.Option,)
    elif of_answers and (place.is_start or place.last == "LINE"):
        first = places
    return ExpectedNames(
        kinds=(*VALUES, ast.Formal, *places, *first),
        first=first,
        functions=True,
        of_answers=of_answers,
        words=(CAPACITY,) if place.declaration in ("EXPECT", "FIGURE") else (),
        compared=_compared(place),
        dimension=_OF_WORDS.get(place.tokens[-1].text),
        suits=_suits(place),
    )


def _suits(place: _Place) -> Callable[[Dimension], bool] | None:
    """Return what says which dimensions are likely: a rate of items, then their sizes; costs."""
    if place.head == "TRAFFIC" and place.last in ("TRAFFIC", "COMMA"):
        return _is_rate if place.last == "TRAFFIC" else _is_size
    is_cost = place.declaration == "COMPONENT" and place.head == "NAME" and place.last == "NAME"
    return _is_cost if is_cost else None


def _is_rate(dimension: Dimension) -> bool:
    return (dimension * TIME).is_item


def _is_size(dimension: Dimension) -> bool:
    return (INFORMATION / dimension).is_item


def _is_cost(dimension: Dimension) -> bool:
    return (TIME / dimension).is_item


def _compared(place: _Place) -> str:
    """Return what a value is alike: beside it in a comparison, a sum, a call, or set to it."""
    last = place.last
    is_set = last == "EQUAL" and place.head in ("NAME", "EXPECT", "FIGURE", "LINE")
    is_next = last == "COMMA" and open_bracket(place.tokens, "LPAR", "RPAR") is not None
    if is_set or is_next or last in ("COMPARE", "TILDE", "PLUS", "MINUS"):
        return place.name_before(len(place.tokens) - 1)
    return ""
