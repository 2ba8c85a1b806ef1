"""How each rule of the grammar becomes a node of the syntax tree.

One whose parts are the fields of the node that is called as it, in order, needs no line here.

The first parts of a rule give fields of its node in order; what stands behind these gives them by
its kind, in any order. A mark behind a field says what it takes: `changes*` all that its part
holds, nothing where that is missing; `ends...` this part and all behind it; `is_descending!`
whether it is there; `_` is a word that says no more. Of what stands behind, `curve:curves*` takes
each of a kind, `ordered:order+` what each of them holds, and a field without a mark is stated once;
`price` is a kind and its field.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.diagnostics.source import Span
from qps.compiler.syntax import ast


class SyntaxRule(Struct, frozen=True):
    """A rule: its node, the fields and marks of its first parts, and those of others by their kind.

    Where it `has_words`, a name may be a word of the language: it declares nothing.
    """

    node: Callable[..., ast.Written]
    parts: tuple[tuple[str, str], ...]
    items: dict[str, tuple[str, str]]
    has_words: bool = False


def _rule(node: Callable[..., ast.Written], parts: str = "", items: str = "") -> SyntaxRule:
    kinds = (item.partition(":") for item in items.split())
    return SyntaxRule(
        node,
        tuple(_marked(part) for part in parts.split()),
        {kind: _marked(field or kind) for kind, _, field in kinds},
    )


def _worded(node: Callable[..., ast.Written], parts: str) -> SyntaxRule:
    return replace(_rule(node, parts), has_words=True)


def _law(node: Callable[..., ast.Written], parts: str) -> SyntaxRule:
    options = "variation room speeds:speeds+ fitted_speeds period host_cores"
    return replace(_rule(node, parts, options), has_words=True)


def _marked(field: str) -> tuple[str, str]:
    name = field.rstrip(".*!+")
    return name, field.removeprefix(name)


def _elastic(*, range: ast.Range, **parts: Any) -> ast.Param:  # noqa: A002 - the field's name
    return ast.Param(value=range.high, range=range, is_elastic=True, **parts)


def _calendar(*, range: ast.Range, **parts: Any) -> ast.Param:  # noqa: A002 - the field's name
    return ast.Param(value=range.low, range=range, is_calendar=True, **parts)


def _profile(
    *,
    cycle: ast.Name,
    hours: tuple[ast.Hours, ...] = (),
    file: ast.Text | None = None,
    **parts: Any,
) -> ast.Param:
    last = file or (hours[-1] if hours else cycle)
    shape = ast.Profile(span=cycle.span.to(last.span), cycle=cycle, hours=hours, file=file)
    return ast.Param(value=ast.Number(shape.span, Fraction(1)), shape=shape, **parts)


def _cache(
    *, name: ast.Name, settings: tuple[ast.NamedSetting, ...] = (), **parts: Any
) -> ast.Param:
    last = settings[-1].span if settings else name.span
    shape = ast.CacheShape(span=name.span.to(last), settings=settings)
    return ast.Param(name=name, value=ast.Number(shape.span, Fraction(1)), cache=shape, **parts)


def _choose(*, span: Span, name: ast.Name | None, **parts: Any) -> ast.Choose:
    """Return `choose { … }`, which has a name of its own where the spec gives it none."""
    known = ast.Name(Span(span.source, span.start, span.start + len("choose")), ("choices",))
    return ast.Choose(span=span, name=name or known, **parts)


def _formal(*, example: ast.Expr | None, **parts: Any) -> ast.Formal:
    return ast.Formal(example=None if example is None else ast.as_unit(example), **parts)


def _trace(*, unit: ast.Expr | None, **parts: Any) -> ast.Trace:
    return ast.Trace(unit=None if unit is None else ast.as_unit(unit), **parts)


def _machine_member(
    *,
    changes: tuple[ast.Attribute | ast.Queueing, ...] = (),
    **parts: Any,
) -> ast.Machine:
    """Return `machine b = a with cpu 8 core, idle 3 %`: what is said of a resource follows it."""
    resources: list[ast.ResourceItem] = []
    of_nothing: list[ast.Attribute | ast.Queueing] = []
    for change in changes:
        if isinstance(change, ast.Attribute) and change.name.text not in ast.OF_A_RESOURCE:
            resources.append(
                ast.ResourceItem(span=change.span, name=change.name, capacity=change.value)
            )
        elif not resources:
            of_nothing.append(change)
        elif isinstance(change, ast.Attribute):
            last = resources[-1]
            resources[-1] = replace(last, attributes=(*last.attributes, change))
        else:
            resources[-1] = replace(resources[-1], queueing=change)
    return ast.Machine(resources=tuple(resources), of_nothing=tuple(of_nothing), **parts)


def _emission(*, values: tuple[ast.Expr | ast.Think, ...], **parts: Any) -> ast.Emission:
    """Return what leaves a source: its times to think may stand among its sizes."""
    return ast.Emission(
        values=tuple(value for value in values if not isinstance(value, ast.Think)),
        thinks=tuple(value for value in values if isinstance(value, ast.Think)),
        **parts,
    )


def _by_kind(
    *, name: ast.Name, kinds: ast.Name, entries: tuple[ast.KindValue, ...] = (), **parts: Any
) -> ast.Param:
    last = entries[-1].span if entries else kinds.span
    table = ast.KindTable(kinds.span.to(last), name, kinds, entries)
    return ast.Param(name=name, value=table, **parts)


def _by_pair(
    *,
    name: ast.Name,
    kinds: ast.Name,
    others: ast.Name,
    entries: tuple[ast.PairValue, ...] = (),
    **parts: Any,
) -> ast.Param:
    last = entries[-1].span if entries else others.span
    table = ast.PairTable(kinds.span.to(last), kinds, others, entries)
    return ast.Param(name=name, value=table, **parts)


_STEPS = (
    "step:steps* call_step:steps* call_others:steps* together:steps* take:steps* give:steps* "
    "chance:steps* one_of_steps:steps*"
)
"""What is done at a node, one after the other."""

_NETWORK = "medium link_property:properties* queueing price price_date failing source"

RULES: dict[str, SyntaxRule] = {
    "use": _rule(ast.Use, "module alias each changes*"),
    # what may vary
    "item_unit": _rule(ast.Unit, "name"),
    "rating_unit": _rule(partial(ast.Unit, is_rating=True), "name"),
    "derived_unit": _rule(ast.Unit, "name value"),
    "calendar": _rule(_calendar, "name range source"),
    "forecast_formula": _rule(ast.Forecast, "name value source"),
    "forecast_table": _rule(ast.Forecast, "name value source"),
    "profile_hours": _rule(_profile, "name cycle", "hours:hours* other_hours:hours* source"),
    "profile_table": _rule(_profile, "name cycle file source"),
    "hours": _rule(ast.Hours, "days* start end value"),
    "other_hours": _rule(partial(ast.Hours, is_rest=True), "value"),
    "clock_time": _rule(ast.ClockTime, "text"),
    "user_group": _rule(ast.Group, "name size index source"),
    "param": _rule(ast.Param, "name value range source fitted"),
    "case_param": _rule(ast.Param, "name value range source fitted"),
    "elastic_param": _rule(_elastic, "name range _ priority source"),
    "kind_param": _rule(_by_kind, "name kinds", "kind_value:entries* source fitted range"),
    "cases": _rule(ast.Cases, "values..."),
    "case": _rule(ast.CaseValue, "case value"),
    "pair_param": _rule(_by_pair, "name kinds others", "pair_value:entries* source fitted range"),
    "pair_value": _worded(ast.PairValue, "one other value"),
    "kind_value": _worded(ast.KindValue, "name value"),
    "kinds": _rule(ast.Kinds, "name of_users!", "weight:weights* STRING:pattern source"),
    "weight": _worded(ast.Weight, "name value"),
    "func": _rule(ast.Func, "name formals* value"),
    "formal": _rule(_formal, "name example"),
    "range": _rule(ast.Range, "low high"),
    # hardware, and what steps cost
    "machine": _rule(
        ast.Machine,
        "name formals*",
        "resource:resources* extra_rating:ratings* price price_date failing source",
    ),
    "machine_member": _rule(
        _machine_member,
        "name formals* parent",
        "attribute:changes* queueing:changes* extra_rating:ratings* price price_date failing "
        "source",
    ),
    "price_date": _rule(ast.Date, "text"),
    "parent": _rule(ast.Parent, "name arguments*"),
    "resource": _rule(ast.ResourceItem, "name capacity", "attribute:attributes* queueing"),
    "attribute": _worded(ast.Attribute, "name value"),
    "fit": _worded(ast.Fit, "_ file by costs* fixed onto"),
    "held": _worded(ast.FixedNumber, "name value"),
    "queueing": _law(ast.Queueing, "discipline is_preemptive!"),
    "network": _rule(ast.Network, "name formals*", _NETWORK),
    "network_member": _rule(ast.Network, "name formals* parent", _NETWORK),
    "component": _rule(
        ast.Component,
        "name formals*",
        "run:items* cost:items* effect:items* merge:items* source fitted",
    ),
    "component_member": _rule(
        ast.Component,
        "name formals* parent",
        "run:items* cost:items* effect:items* merge:items* source fitted",
    ),
    "run": _rule(ast.Run, "component arguments* repeat condition"),
    "cost": _rule(ast.Cost, "resource amount", "measured_on scaled_by single_thread at_load"),
    "merge": _rule(partial(ast.Effect, kind="merge")),
    # where the steps run, and what travels
    "all_nodes": _rule(ast.AllNodes, "but..."),
    "for_each": _rule(ast.Index, "kinds but..."),
    "for_each_pair": _rule(partial(ast.Index, is_pair=True), "kinds"),
    "in_each": _rule(ast.Index, "kinds but..."),
    "stream": _rule(
        ast.Stream,
        "name whose index condition",
        "emission:items* first_emission:items* arrivals:items* event:items* at:items* over:items* "
        "playout:items* rank:items* source",
    ),
    "each": _rule(ast.Each, "flows name but..."),
    "each_pair": _rule(ast.EachPair, "is_ordered! name"),
    "each_pair_in": _rule(partial(ast.EachPair, is_of_group=True), "is_ordered! name"),
    "emission": _rule(_emission, "values* source"),
    "first_emission": _rule(partial(_emission, is_first_edition=True), "values* source"),
    "event": _rule(ast.Event, "name value each source"),
    "at": _rule(
        ast.At,
        "node condition",
        _STEPS,
    ),
    "call_step": _rule(
        ast.CallStep,
        "node",
        f"name:links* repeat:times sends returns source when:condition {_STEPS}",
    ),
    "call_others": _rule(
        ast.CallOthers,
        "count",
        f"name:links* sends returns source when:condition {_STEPS}",
    ),
    "together": _rule(
        ast.Together,
        "fan_out",
        _STEPS,
    ),
    "chance": _rule(ast.Chance, "probability", _STEPS),
    "otherwise": _rule(ast.Chance, "", _STEPS),
    "one_of_steps": _rule(ast.Alternatives, "", "chance:branches* otherwise:branches*"),
    "fan_out": _rule(ast.FanOut, "count answers"),
    "over": _rule(ast.Over, "", "name:links* when:condition"),
    "rank": _rule(ast.Rank, "_ value"),
    "step": _rule(ast.Step, "component arguments* repeat group spread condition"),
    # what users need
    "percentiles": _rule(ast.Percentiles, "measure", "percentile:levels* source"),
    "require": _rule(ast.Require, "requirements..."),
    "planned_load": _rule(ast.Target, "aims..."),
    "waiting": _rule(ast.DefaultQueueing, "waits..."),
    "wait": _law(ast.Wait, "name discipline is_preemptive!"),
    "quality_metric": _worded(ast.Quality, "metric"),
    "quality_formula": _rule(ast.Quality, "metric"),
    "mode": _rule(
        ast.Mode,
        "name",
        "requirement:requirements* change:changes*",
    ),
    "survive": _rule(
        ast.Survive,
        "failures zones",
        "name:nodes* requirement:requirements* change:changes*",
    ),
    "cache": _rule(_cache, "name", "setting:settings* source"),
    "setting": _worded(ast.NamedSetting, "name value"),
    "autoscaler": _rule(ast.Autoscaler, "node range", "setting:settings* source"),
    "retrying": _rule(ast.Retrying, "stream", "setting:settings* source"),
    "incident": _rule(ast.Incident, "name disturbances..."),
    "disturbance": _rule(ast.Disturbance, "kind count name amount start length"),
    "scenario": _rule(ast.Scenario, "name changes..."),
    # claims
    "expect": _rule(
        ast.Expect,
        "name title",
        "claim:claims* matrix_claim:matrix_claims* missed claim_source:source "
        "own_source:source arithmetic_source:source remark:remarks*",
    ),
    "claim": _rule(ast.Claim, "value claimed tolerance simulated changes*"),
    "observed_runs": _rule(
        ast.Observe,
        "name file changes*",
        "column:columns* missed claim_source:source own_source:source arithmetic_source:source "
        "remark:remarks*",
    ),
    "observed_trace": _rule(_trace, "name file unit period source"),
    "figure": _rule(
        ast.Figure,
        "name title",
        "abscissa curve:curves* loads:loads* logarithmic:logarithmic* source remark:remarks*",
    ),
    "curve": _rule(ast.Curve, "label value changes*"),
    "loads": _rule(ast.Loads, "label changes*"),
    # matrices
    "matrix": _rule(
        ast.Matrix,
        "name title changes*",
        "axis:axes* included:included* "
        "excluded:excluded* wanted:wanted* derived:columns* percentiles:percentiles* asked_at:at "
        "selected:selected+ ordered:order+ source remark:remarks*",
    ),
    "choose": _rule(
        _choose,
        "name title changes*",
        "axis:axes* excluded:excluded* minimized:objective source remark:remarks*",
    ),
    "unspaced": _rule(ast.Spaced, "range"),
    "stepped": _rule(ast.Spaced, "range step"),
    "multiplied": _rule(ast.Spaced, "range _ factor"),
    "divided": _rule(ast.Spaced, "range count is_logarithmic!"),
    "listed": _rule(ast.Listed, "values..."),
    "sort_key": _rule(ast.SortKey, "name is_descending!"),
    # expressions
    "quantity": _rule(ast.Quantity, "number unit"),
    "number_power": _rule(ast.Power, "base exponent"),
    "raised": _rule(ast.Power, "base exponent"),
    "date": _rule(ast.Date, "text"),
    "reference": _rule(ast.Reference, "name"),
    "call": _rule(ast.Call, "name arguments*"),
    "negative": _rule(ast.Negative, "_ operand"),
    "not_": _rule(ast.Not, "operand"),
    "around": _rule(ast.Around, "middle half_width"),
    "between": _rule(ast.Between, "low high"),
    "one_of": _rule(ast.OneOf, "choices..."),
    "weighed": _rule(ast.Weighed, "value weight"),
    "samples": _rule(ast.Samples, "file column"),
    "conditional": _rule(ast.Conditional, "condition then otherwise"),
}


@cache
def rule_by_fields(name: str) -> SyntaxRule:
    """Return a rule that has no row: its parts are the fields of the node that is called as it."""
    node = getattr(ast, "".join(part.title() for part in name.split("_")), None)
    assert node is not None, f"add a node for `{name}` to compiler/syntax/ast, or a row to RULES"
    return _rule(node, " ".join(f for f in node.__struct_fields__ if f not in ("span", "doc")))


EXPRESSIONS = frozenset([
    "number", "date", "quantity", "group_quantity", "number_power", "raised", "reference", "sign",
    "call", "group", "negative", "sum", "every", "product", "comparison", "not_", "conditional",
    "disjunction", "conjunction", "around", "between", "one_of", "samples",
])  # fmt: skip
"""The rules of expressions: how deep they stand in each other is counted."""

CALLS = frozenset([
    "call_step", "call_others", "together", "chance", "otherwise", "one_of_steps",
])  # fmt: skip
"""The rules of calls and alternatives: how deep they stand in each other is counted."""

PASSED_ON = frozenset([
    "source", "fitted", "missed", "claim_source", "price", "extra_rating", "medium", "repeat",
    "zones", "when", "variation", "room", "fitted_speeds", "period", "host_cores", "in_group",
    "sends", "returns", "answers", "percentile", "measured_on", "scaled_by", "excluded", "wanted",
    "asked_at", "fitted_cost", "minimized", "onto", "some_of",
])  # fmt: skip
"""The rules that say no more than their last part does."""

CALLED = {
    "medium": "the medium",
    "measured_on": "`measured on`",
    "scaled_by": "`scaled by`",
    "at_load": "the load",
    "asked_at": "`at`",
    "minimized": "`minimize`",
    "abscissa": "`over`",
    "claim_source": "`source`",
    "own_source": "`source`",
    "arithmetic_source": "`source`",
}
"""What is stated once, where it is not called as its rule is."""
