"""Users and items of several kinds: what all of them ask for together, counted kind by kind.

While a formula is built, one symbol stands for a parameter that has a value for each kind;
`averaged` puts in what the formula comes to over all of them. The mean of a product is not the
product of the means: heavy users who ask often *and* for much load more than either tells.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import sympy


@dataclass(frozen=True, slots=True)
class Mixed:
    """A parameter by kinds: `mean` over all of them, and `each` kind with its share and value.

    `of` names the kinds, so that parameters of the same ones are taken together.
    """

    symbol: sympy.Symbol
    of: str
    of_users: bool
    mean: sympy.Expr
    each: tuple[tuple[sympy.Rational, sympy.Expr], ...]


Mixtures = Mapping[sympy.Symbol, Mixed]


def averaged(expr: sympy.Expr, mixtures: Mixtures) -> sympy.Expr:
    """Return the mean of an expression over all kinds that parameters in it have values for.

    Of kinds of users everything is a mean over users: `request / think_time` is that of the
    hasty and of the slow, by their shares. Of items, such as the pictures of a film, factors of
    one product are taken together, and a quotient is by the mean: bytes over the mean size.
    """
    while together := _of_one_kind([expr], mixtures):
        expr = _mean(expr, together)
    return expr


def kind_by_kind(
    exprs: Collection[sympy.Expr], mixtures: Mixtures
) -> Iterator[tuple[sympy.Rational, tuple[sympy.Expr, ...]]]:
    """Yield the share of each kind of users, and what some expressions are for that kind."""
    of_users = {symbol: mixed for symbol, mixed in mixtures.items() if mixed.of_users}
    together = _of_one_kind(exprs, of_users)
    if not together:
        yield sympy.S.One, tuple(averaged(expr, mixtures) for expr in exprs)
        return
    for share, values in _each(together):
        chosen = [expr.xreplace(values) for expr in exprs]
        for inner, of_kind in kind_by_kind(chosen, mixtures):
            yield share * inner, of_kind


def _of_one_kind(exprs: Collection[sympy.Expr], mixtures: Mixtures) -> list[Mixed]:
    """Return the parameters in some expressions that are by one and the same kinds."""
    symbols = {symbol for expr in exprs for symbol in expr.free_symbols} if mixtures else set()
    found = sorted(symbols & mixtures.keys(), key=str)
    return [mixtures[symbol] for symbol in found if mixtures[symbol].of == mixtures[found[0]].of]


def _mean(expr: sympy.Expr, together: list[Mixed]) -> sympy.Expr:
    symbols = [mixed.symbol for mixed in together]
    means = {mixed.symbol: mixed.mean for mixed in together}
    if not expr.has(*symbols) or expr in means:
        return means.get(expr, expr)
    if expr.is_Add:
        return sympy.Add(*(_mean(term, together) for term in expr.args))
    if expr.is_Mul:
        apart, mixed = expr.as_independent(*symbols, as_Add=False)
        if apart != 1:
            return apart * _mean(mixed, together)
    if together[0].of_users:
        return _joint(expr, together)
    factors = sympy.Mul.make_args(expr)
    multiplied = [factor for factor in factors if factor.is_polynomial(*symbols)]
    others = [factor.xreplace(means) for factor in factors if factor not in multiplied]
    return sympy.Mul(_joint(sympy.Mul(*multiplied), together), *others)


def _joint(expr: sympy.Expr, together: list[Mixed]) -> sympy.Expr:
    """Return the mean of an expression, each kind with all of its own values."""
    return sympy.Add(*(share * expr.xreplace(values) for share, values in _each(together)))


def _each(
    together: list[Mixed],
) -> Iterator[tuple[sympy.Rational, dict[sympy.Symbol, sympy.Expr]]]:
    for of_kind in zip(*(mixed.each for mixed in together), strict=True):
        values = {m.symbol: value for m, (_, value) in zip(together, of_kind, strict=True)}
        yield of_kind[0][0], values
