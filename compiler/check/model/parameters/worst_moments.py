"""The moments of profiles that may limit capacity, as modes: the worst one counts.

A profile by which only traffic grows makes a moment the worse the larger it is. So of moments that
are alike in all other profiles, those count that no other one exceeds in every such profile.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.parts import parameters_in, parts_of
from qps.compiler.quantities.clock_times import mode_at, moment_name
from qps.compiler.quantities.dimension import DIMENSIONLESS

MOST_MOMENTS = 60
"""Moments that are solved for one configuration."""
MOST_STATES = 200
"""The same, each in all modes."""

_COUNTS = (ir.Population, ir.NodeCount, ir.Members, ir.GroupCount)
_NONE_NEGATIVE = frozenset(["max", "min", "ceil", "floor", "sqrt"])
_GROWING = frozenset(["max", "min", "ceil", "floor"])

Values = tuple[tuple[str, Fraction], ...]


def with_worst_moments(model: ir.Model, profiles: tuple[ir.Profile, ...], sink: Sink) -> ir.Model:
    """Return a model with its profiles, at the moments that may limit its capacity.

    These are its modes if there are several; modes that it has are there at each of them.
    """
    if not profiles:
        return model
    moments = ir.moments_of(profiles)
    growing = [one.name for one in profiles if _only_adds_traffic(model, one.name)]
    worst = _worst(moments, growing)
    span = profiles[0].span
    names = " and ".join(f"`{one.name}`" for one in profiles)
    if len(worst) > MOST_MOMENTS:
        sink.report(
            codes.OUT_OF_RANGE,
            span,
            f"{len(worst):,} moments of {names} may limit capacity",
            hint=f"at most {MOST_MOMENTS} can be compared: use longer steps, such as hours, in "
            "profiles that do not only multiply traffic",
        )
        worst = worst[:1]
    parameters = _at(model.parameters, worst[0].values)
    streams = tuple(_while_it_flows(one, profiles) for one in model.streams)
    model = replace(model, profiles=profiles, parameters=parameters, streams=streams)
    if len(worst) == 1:
        return model
    cycle = ir.cycle_of(profiles)
    at = {moment_name(one.start, cycle): _changes(one, span) for one in worst}
    model = replace(model, worst_moments=tuple(at.values()))
    if not model.modes:
        made = tuple(_mode(name, changes, span) for name, changes in at.items())
        return replace(model, modes=made)
    if len(at) * len(model.modes) > MOST_STATES:
        sink.report(
            codes.OUT_OF_RANGE,
            span,
            f"{len(model.modes):,} modes at {len(at)} moments of {names}: at most {MOST_STATES} "
            "states can be compared",
            hint="use fewer modes, or fewer profiles",
        )
        return model
    each = tuple(
        replace(mode, name=mode_at(mode.name, name), changes=(*mode.changes, *changes))
        for mode in model.modes
        for name, changes in at.items()
    )
    return replace(model, modes=each)


def _at(parameters: tuple[ir.Parameter, ...], values: Values) -> tuple[ir.Parameter, ...]:
    known = dict(values)
    return tuple(
        replace(one, value=ir.Constant(known[one.name]), text=_text(known[one.name]))
        if one.name in known
        else one
        for one in parameters
    )


def _text(value: Fraction) -> str:
    return f"{float(value):.6g}"


def _changes(moment: ir.Moment, span: Span) -> tuple[ir.Change, ...]:
    return tuple(ir.SetParameter(name, ir.Constant(value), span) for name, value in moment.values)


def _mode(name: str, changes: tuple[ir.Change, ...], span: Span) -> ir.Mode:
    return ir.Mode(name=name, requirements=(), changes=changes, span=span, doc=None)


def _while_it_flows(stream: ir.Stream, profiles: Sequence[ir.Profile]) -> ir.Stream:
    """Return a stream that is there only while no profile makes its traffic 0."""
    if not stream.emission.values:
        return stream
    factors = set(_factors(stream.emission.values[0].expr))
    ending = [
        ir.Compare(">", ir.ParameterValue(one.name), ir.Constant(Fraction(0)), DIMENSIONLESS)
        for one in profiles
        if one.name in factors and any(not period.value for period in one.periods)
    ]
    if not ending:
        return stream
    conditions = [*ending, *([stream.condition] if stream.condition is not None else [])]
    return replace(
        stream,
        pauses=tuple(one.left.name for one in ending if isinstance(one.left, ir.ParameterValue)),
        condition=conditions[0] if len(conditions) == 1 else ir.AllOf(tuple(conditions)),
    )


def _factors(expr: ir.Expr) -> Iterator[str]:
    """Yield the parameters that multiply a value."""
    match expr:
        case ir.ParameterValue(name):
            yield name
        case ir.Product(factors):
            for one in factors:
                yield from _factors(one)


def _worst(moments: Sequence[ir.Moment], growing: Collection[str]) -> list[ir.Moment]:
    """Return the first moment of each distinct load that no other load exceeds."""
    first: dict[Values, ir.Moment] = {}
    for moment in moments:
        first.setdefault(moment.values, moment)
    alike: dict[Values, list[tuple[tuple[Fraction, ...], ir.Moment]]] = {}
    for moment in first.values():
        rest = tuple((name, value) for name, value in moment.values if name not in growing)
        loads = tuple(value for name, value in moment.values if name in growing)
        alike.setdefault(rest, []).append((loads, moment))
    found: list[ir.Moment] = []
    for group in alike.values():
        if len(growing) == 1:  # a week of minutes has thousands
            found.append(max(group, key=lambda one: one[0])[1])
            continue
        front: list[tuple[Fraction, ...]] = []
        for loads, moment in sorted(group, key=lambda one: one[0], reverse=True):
            if not any(_covers(other, loads) for other in front):
                front.append(loads)
                found.append(moment)
    return sorted(found, key=lambda one: one.start)


def _covers(other: tuple[Fraction, ...], loads: tuple[Fraction, ...]) -> bool:
    return all(large >= small for large, small in zip(other, loads, strict=True))


# -- what a profile changes ------------------------------------------------------------------


def _only_adds_traffic(model: ir.Model, name: str) -> bool:
    """Return whether all that grows with a profile is the traffic of streams."""
    parameters = {one.name: one.value for one in model.parameters}
    dependent = {name}
    while True:
        more = {
            one
            for one, value in parameters.items()
            if one not in dependent and _names(value) & dependent
        }
        if not more:
            break
        dependent |= more
    rates = [stream.emission.values[0].expr for stream in model.streams if stream.emission.values]
    if not all(_grows(rate, name, dependent, parameters) for rate in rates):
        return False
    # All else is looked through as it is: streams without their rates, and no parameters.
    streams = tuple(
        replace(stream, emission=replace(stream.emission, values=stream.emission.values[1:]))
        for stream in model.streams
    )
    rest = replace(model, streams=streams, parameters=())
    return not any(one in dependent for one in parameters_in(rest))


def _names(expr: ir.Expr) -> set[str]:
    return {part.name for part in parts_of(expr) if isinstance(part, ir.ParameterValue)}


def _grows(
    expr: ir.Expr, name: str, dependent: Collection[str], parameters: Mapping[str, ir.Expr]
) -> bool:
    """Return whether an expression grows with a profile, or does not depend on it."""

    def grows(part: ir.Expr) -> bool:
        return _grows(part, name, dependent, parameters)

    if not any(one in dependent for one in parameters_in(expr)):
        return True
    match expr:
        case ir.ParameterValue(own):
            return own == name or grows(parameters[own])
        case ir.Sum(terms):
            return all(map(grows, terms))
        case ir.Product(factors):
            return all(grows(one) and _is_not_negative(one, parameters) for one in factors)
        case ir.Power(base, ir.Constant(exponent)):
            return exponent > 0 and grows(base) and _is_not_negative(base, parameters)
        case ir.Apply(operation, arguments):
            return operation in _GROWING and all(map(grows, arguments))
        case _:
            return False


def _is_not_negative(expr: ir.Expr, parameters: Mapping[str, ir.Expr]) -> bool:
    def is_not(part: ir.Expr) -> bool:
        return _is_not_negative(part, parameters)

    match expr:
        case ir.Uncertain():
            return False
        case ir.Constant(value):
            return value >= 0
        case ir.ParameterValue(name):
            return name in parameters and is_not(parameters[name])
        case ir.Sum(parts) | ir.Product(parts):
            return all(map(is_not, parts))
        case ir.Power(base):
            return is_not(base)
        case ir.Apply(operation, arguments):
            return operation in _NONE_NEGATIVE and all(map(is_not, arguments))
        case _:
            return isinstance(expr, _COUNTS)
