"""Users and items of several kinds: what all of them demand together, counted kind by kind.

While a formula is built, one symbol stands for a parameter that has a value for each kind;
`averaged` puts in what the formula comes to over all of them. The mean of a product is not the
product of the means: heavy users with frequent *and* large requests load more than either shows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from msgspec import Struct

from qps.compiler.network.classes import ItemKinds
from qps.engine.expressions.formulas import ONE, Formula, apply, maximum, product, total
from qps.engine.expressions.monomials import monomials
from qps.engine.expressions.substitution import substituted
from qps.engine.operations import PRODUCT, SUM


class Mixed(Struct, frozen=True, kw_only=True):
    """A parameter by kinds: `mean` over all of them, and `each` kind with its share and value.

    `of` names the kinds, so that parameters of the same ones are taken together; `kinds` are their
    names.
    """

    symbol: Formula
    of: str
    of_users: bool
    mean: Formula
    each: tuple[tuple[Formula, Formula], ...]
    kinds: tuple[str, ...]


Mixtures = Mapping[Formula, Mixed]


def mixtures_of(kinds: Iterable[ItemKinds]) -> dict[Formula, Mixed]:
    """Return the parameters by kinds that a network has."""
    return {
        stands: Mixed(
            symbol=stands,
            of=one.of,
            of_users=one.of_users,
            mean=one.means[stands],
            each=tuple(zip(one.shares, values, strict=True)),
            kinds=one.names,
        )
        for one in kinds
        for stands, values in one.values.items()
    }


def averaged(expr: Formula, mixtures: Mixtures) -> Formula:
    """Return the mean of an expression over all kinds that parameters in it have values for.

    Of kinds of users everything is a mean over users: `request / think_time` is that of the
    hasty and of the slow, by their shares. Of items, such as the pictures of a film, factors of
    one product are taken together, and a quotient is by the mean: bytes over the mean size.
    """
    while together := _of_one_class([expr], mixtures):
        expr = _mean(expr, together)
    return expr


def averaged_by(expr: Formula, weight: Formula, mixtures: Mixtures) -> Formula:
    """Return the mean of an expression over what comes, of which kinds of users send unlike much.

    Each kind counts by its `weight`, such as how many requests it sends: that is the mean over
    requests, where `averaged` has that over users.
    """
    of_users = {symbol for symbol, mixed in mixtures.items() if mixed.of_users}
    weighing = weight.symbols & of_users
    kinds = {mixtures[symbol].of for symbol in expr.symbols & of_users}
    if kinds.isdisjoint(mixtures[symbol].of for symbol in weighing):
        return averaged(expr, mixtures)
    factors = weight.operands if weight.word == PRODUCT else (weight,)
    weight = product(factor for factor in factors if factor.symbols & weighing)
    return apply("mean", averaged(weight * expr, mixtures), averaged(weight, mixtures))


def kind_by_kind(
    exprs: Collection[Formula], mixtures: Mixtures
) -> Iterator[tuple[Formula, tuple[Formula, ...]]]:
    """Yield the share of each kind of users and items, and what some expressions are for it."""
    of_users = {symbol: mixed for symbol, mixed in mixtures.items() if mixed.of_users}
    together = _of_one_class(exprs, of_users) or _of_one_class(exprs, mixtures)
    if not together:
        yield ONE, tuple(exprs)
        return
    means = {} if together[0].of_users else {mixed.symbol: mixed.mean for mixed in together}
    for share, values in _each(together):
        chosen = [_of_kind(expr, values, means) for expr in exprs]
        for inner, of_kind in kind_by_kind(chosen, mixtures):
            yield share * inner, of_kind


def _of_kind(
    expr: Formula, values: Mapping[Formula, Formula], means: Mapping[Formula, Formula]
) -> Formula:
    """Return what an expression is for a kind: of items a quotient is by the mean."""
    if not means or values.keys().isdisjoint(expr.symbols):
        return substituted(expr, values)
    if expr.word in (SUM, PRODUCT):
        parts = (_of_kind(part, values, means) for part in expr.operands)
        return total(parts) if expr.word == SUM else product(parts)
    return substituted(expr, values if _is_polynomial(expr, values.keys()) else means)


def largest(expr: Formula, mixtures: Mixtures) -> Formula | None:
    """Return what an expression is at most for any kind; None where no kinds make a difference."""
    together = _of_one_class([expr], mixtures)
    if not together:
        return None
    found: dict[Formula, None] = {}
    for _, values in _each(together):
        of_kind = substituted(expr, values)
        found[largest(of_kind, mixtures) or of_kind] = None
    return maximum(*found) if len(found) > 1 else None


def _of_one_class(exprs: Collection[Formula], mixtures: Mixtures) -> list[Mixed]:
    """Return the parameters in some expressions that are by one and the same kinds."""
    symbols = {symbol for expr in exprs for symbol in expr.symbols} if mixtures else set()
    found = sorted(symbols & mixtures.keys(), key=lambda symbol: symbol.name)
    return [mixtures[symbol] for symbol in found if mixtures[symbol].of == mixtures[found[0]].of]


def _mean(expr: Formula, together: list[Mixed]) -> Formula:
    means = {mixed.symbol: mixed.mean for mixed in together}
    if not means.keys() & expr.symbols or expr in means:
        return means.get(expr, expr)
    if expr.word == SUM:
        return total(_mean(term, together) for term in expr.operands)
    factors = expr.operands if expr.word == PRODUCT else (expr,)
    mixed = [factor for factor in factors if means.keys() & factor.symbols]
    if len(mixed) < len(factors):
        apart = [factor for factor in factors if factor not in mixed]
        return product((*apart, _mean(product(mixed), together)))
    if together[0].of_users:
        return _joint(expr, together)
    multiplied = [factor for factor in factors if _is_polynomial(factor, means.keys())]
    others = [substituted(factor, means) for factor in factors if factor not in multiplied]
    return product((_joint(product(multiplied), together), *others))


def _is_polynomial(expr: Formula, symbols: AbstractSet[Formula]) -> bool:
    """Return whether nothing but sums, products and whole powers is made of symbols."""
    return not any(by.symbols & symbols for by in monomials(expr, symbols).values())


def _joint(expr: Formula, together: list[Mixed]) -> Formula:
    """Return the mean of an expression, each kind with all of its own values."""
    return total(share * substituted(expr, values) for share, values in _each(together))


def _each(
    together: list[Mixed],
) -> Iterator[tuple[Formula, dict[Formula, Formula]]]:
    for of_kind in zip(*(mixed.each for mixed in together), strict=True):
        values = {m.symbol: value for m, (_, value) in zip(together, of_kind, strict=True)}
        yield of_kind[0][0], values
