"""What uncertain numbers are called that stand in no `param`: by the place they stand in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, count

from qps.compiler.check.names.program import Program
from qps.compiler.diagnostics.source import Span
from qps.compiler.syntax import ast

DISTRIBUTIONS = {
    "normal": ("mean", "standard_deviation"),
    "lognormal": ("median", "deviation_of_the_logarithm"),
    "uniform": ("least", "most"),
    "triangular": ("least", "likeliest", "most"),
}
"""The functions that say how likely each value of a number is, and what each of them takes."""


def is_uncertain(expr: object) -> bool:
    """Return whether an expression says of a number that it is not known."""
    is_drawn = isinstance(expr, ast.Call) and expr.name.text in DISTRIBUTIONS
    return is_drawn or isinstance(expr, ast.Uncertain)


def uncertain_names(program: Program) -> dict[Span, str]:
    """Return a name for each uncertain number, and fit, of a program: `work.cpu`, `lan.rate`.

    What is written once has one name, in whatever instances of a file it is used; those that stand
    in one place are counted. A `param` has its name for itself: what its value is made of is a part
    of it.
    """
    found: dict[Span, str] = {}
    taken: set[str] = set()
    for module in program.modules:
        for declaration in module.syntax.declarations:
            for span, place in _places(declaration, ()):
                if span in found:
                    continue
                own = module.qualified(".".join(place))
                if isinstance(declaration, ast.Param) and span != declaration.value.span:
                    own = f"part of {own}"
                found[span] = name = counted_name(own, taken.__contains__)
                taken.add(name)
    return found


def counted_name(own: str, is_used: Callable[[str], bool]) -> str:
    """Return a name that is not taken: counted, where others are called so."""
    counted = (f"{own} ({number})" for number in count(2))
    return next(name for name in chain([own], counted) if not is_used(name))


def _places(part: object, around: Sequence[str]) -> Iterator[tuple[Span, tuple[str, ...]]]:
    """Yield where uncertain numbers stand, with the names of what they stand in."""
    if isinstance(part, tuple):
        for one in part:
            yield from _places(one, around)
    if not isinstance(part, ast.Written) or isinstance(part, ast.Name):
        return
    own = (*around, *_words(part))
    if is_uncertain(part) or isinstance(part, ast.Fit):
        yield part.span, own
    for field in part.__struct_fields__:
        yield from _places(getattr(part, field), own)


def _words(part: ast.Written) -> Iterator[str]:
    """Yield what a node adds to the name of what stands in it."""
    match part:
        case ast.Call() | ast.Reference() | ast.Step() | ast.Run():
            return
        case ast.Cost(resource=name):
            yield name.text
        case ast.At(node=name) | ast.CallStep(node=name):
            yield name.text
        case ast.LinkProperty(kind=word) | ast.Effect(kind=word):
            yield word
        case ast.Emission():
            yield "traffic"
        case _:
            own = getattr(part, "name", None)
            if isinstance(own, ast.Name):
                yield own.text
