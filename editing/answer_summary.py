"""The answer of a spec as it is written now: in a line, and as loads of its places."""

from __future__ import annotations

from collections.abc import Iterator

from qps.compiler.check.names.declarations import IndexedDeclaration
from qps.compiler.configure.configuration import uncertain_in
from qps.compiler.ir.measure_names import utilization_of
from qps.compiler.pipeline import Spec
from qps.compiler.quantities.dimension import Dimension
from qps.compiler.syntax import ast
from qps.editing.messages import AnswerLine, PlaceLoad
from qps.editing.open_documents import CheckedText, OpenDocuments
from qps.reports.text.solutions.capacity_text import at_headline, capacity
from qps.reports.text.words.certainty_marks import marked_value
from qps.reports.text.words.nouns import counted
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import is_share, percent, quantity_in
from qps.solver.answer import Answer
from qps.solver.answers.solution import ResourceSolution
from qps.solver.configured_answer import configured_answer
from qps.solver.uncertainty.interval_result import Sampling


def answer_line(documents: OpenDocuments, uri: str) -> AnswerLine | None:
    """Return the answer of an open spec; None where it has mistakes, or is a module.

    Samples of uncertain inputs take a while: the answer of nominal inputs comes before them.
    """
    first = nominal_answer_line(documents, uri)
    if first is None or not first.is_nominal:
        return first
    documents.notify(first)
    reading = documents.reading(uri)
    assert reading.spec is not None
    return _line(documents, reading, reading.spec, with_confidence=True)


def nominal_answer_line(documents: OpenDocuments, uri: str) -> AnswerLine | None:
    """Return the answer of an open spec, with nominal inputs where some are uncertain."""
    reading = documents.reading(uri)
    spec = reading.spec
    if spec is None or spec.program.is_module:
        return None
    return _line(documents, reading, spec, with_confidence=False)


def _line(
    documents: OpenDocuments, reading: CheckedText, spec: Spec, *, with_confidence: bool
) -> AnswerLine:
    configuration = spec.configuration()
    found = configured_answer(
        spec, configuration, sampling=Sampling(), with_confidence=with_confidence
    )
    answer = at_headline(found.answer)
    is_nominal = not with_confidence and bool(uncertain_in(configuration))
    places, at = documents.positions(reading.source), f"{answer.population} = {answer.at:,}"
    if is_nominal:
        at = f"{at}, {phrase('with_nominal')}"
    users = next(iter(reading.syntax.every(ast.Users)), None)
    span = None if users is None else users.span
    return AnswerLine(
        title=_title(answer, is_nominal=is_nominal),
        is_nominal=is_nominal,
        range=places.between(0, 0) if span is None else places.range(span),
        loads=tuple(
            PlaceLoad(
                at=places.position(item.span.end),
                label=_label(loads),
                tooltip="\n".join(_format(one) for one in loads) + f"\n\nat {at}",
            )
            for item, loads in _by_place(reading.syntax, spec, answer)
        ),
        at=at,
        values=dict(_values(answer)),
    )


def _title(answer: Answer, *, is_nominal: bool) -> str:
    """Return the headline and what limits it: `7,460 users (upper bound); limited by web.cpu`."""
    limit = f"; limited by {answer.limited_by}" if answer.limited_by else ""
    if is_nominal and answer.capacity is not None:
        users = counted(answer.capacity, answer.population)
        return f"{phrase('next.nominal', users=users)}{limit}"
    return capacity(answer) + limit


def _values(answer: Answer) -> Iterator[tuple[str, str]]:
    """Yield what is known at the answer, by name: measures, loads, what is required."""
    for one in answer.measures:
        yield one.name, marked_value(_quantity(one.value, one.dimension), one.value, one.known)
    for load in answer.resources:
        yield (
            utilization_of(load.name),
            f"{percent(load.utilization_at_limit)}, limit {percent(load.target)}",
        )
    for need in answer.requirements:
        share = is_share(need.name) and need.confidence is None
        value, limit = (
            percent(number) if share else _quantity(number, need.dimension)
            for number in (need.now.value, need.limit)
        )
        value_text = marked_value(value, need.now.value, need.now.known)
        operator = ("<" if need.at_most else ">") + ("" if need.strict else "=")
        yield need.name, f"{value_text}, requirement {operator} {limit}"


def _quantity(value: float, dimension: Dimension) -> str:
    return quantity_in(value, str(dimension))


def _by_place(
    syntax: ast.Module, spec: Spec, answer: Answer
) -> Iterator[tuple[ast.Node | ast.Link, list[ResourceSolution]]]:
    """Yield the nodes and links of a text, each with its resources, the fullest first."""
    declared = spec.program.main.names
    for topology in syntax.every(ast.Topology):
        for item in topology.items:
            name = item.name.text
            of = declared.get(name)
            names = of.names if isinstance(of, IndexedDeclaration) else (name,)
            own = [
                one
                for one in answer.resources
                if any(one.name == each or one.name.startswith(f"{each}.") for each in names)
            ]
            if own:
                yield item, sorted(own, key=lambda one: -one.utilization_at_limit / one.target)


_SHOWN = 2


def _label(loads: list[ResourceSolution]) -> str:
    more = ", …" if len(loads) > _SHOWN else ""
    return ", ".join(_brief(one) for one in loads[:_SHOWN]) + more


def _brief(one: ResourceSolution) -> str:
    """Return a resource without the name of its place, which stands right before it."""
    return f"{one.name.partition('.')[2] or one.name} {percent(one.utilization_at_limit)}"


def _format(one: ResourceSolution) -> str:
    return f"{one.name}: {percent(one.utilization_at_limit)}, limit {percent(one.target)}"
