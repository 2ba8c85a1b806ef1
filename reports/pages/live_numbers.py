"""Numbers of a spec as a page holds them: what each is, between which ends, where stated."""

from __future__ import annotations

from fractions import Fraction

from qps.compiler import ir
from qps.compiler.configure.bounded import Bounded
from qps.compiler.lower.load_graph import Assumption, LoadGraph
from qps.compiler.quantities.dimension import Dimension
from qps.reports.pages.json_values import Json
from qps.reports.pages.live_records import Records, exact, line
from qps.reports.text.written import interval_text, unit_of
from qps.solver.what_if.offers import is_assumed, is_of_a_kind


class LiveNumbers:
    """Tells numbers as records."""

    def __init__(self, model: ir.Model, records: Records) -> None:
        self._model = model
        self._records = records
        self._parameters = {parameter.name: parameter for parameter in model.parameters}

    def assumption(
        self,
        assumption: Assumption,
        graph: LoadGraph,
        bounded: Bounded | None,
        *,
        is_elastic_elsewhere: bool,
        is_limit: bool,
        is_need: bool,
        is_set_by_name: bool,
    ) -> int:
        """Return the record of a number that a graph rests on; in another mode it may give way."""
        return self.number(
            assumption.name,
            assumption.fraction,
            assumption.dimension,
            assumption.text,
            assumption.source or "",
            assumption.span.place,
            bounded=bounded,
            is_capacity=assumption.is_capacity,
            is_decided=is_elastic_elsewhere
            or assumption.name in graph.decided
            or self._is_mixed_in(assumption, graph),
            is_limit=is_limit,
            is_need=is_need,
            is_set_by_name=is_set_by_name,
            counts_things=assumption.counts_things,
            interval=interval_text(self._model, assumption),
        )

    def _is_mixed_in(self, assumption: Assumption, graph: LoadGraph) -> bool:
        """Tell whether a parameter counts in other numbers too: by kinds, or in another case."""
        kinds = {
            parameter.name: [kind.parameter for kind in parameter.value.classes]
            for parameter in self._model.parameters
            if isinstance(parameter.value, ir.Mixture)
        }
        cases = [f"{assumption.name}.{case.value}" for case in ir.Case]
        others = [*cases, *kinds.get(assumption.name, [])]
        is_kind = any(assumption.name in own for own in kinds.values())
        return is_kind or any(name in graph.assumptions for name in others)

    def _is_given(self, name: str, declared: ir.Parameter | None) -> bool:
        """Tell whether a number is nobody's to change."""
        is_given = declared is not None and is_assumed(declared)
        return is_given or is_of_a_kind(self._model, name)

    def number(
        self,
        name: str,
        value: Fraction,
        dimension: Dimension,
        text: str,
        source: str,
        place: str | None,
        *,
        bounded: Bounded | None = None,
        is_capacity: bool = False,
        is_decided: bool = False,
        is_limit: bool = False,
        is_need: bool = False,
        is_set_by_name: bool = False,
        counts_things: bool = False,
        interval: str = "",
    ) -> int:
        """Return the record of a number."""
        declared = self._parameters.get(name)
        is_set_by_name = is_set_by_name or declared is not None
        factor, unit = unit_of(text, value, dimension)
        low, high = (_bound(declared, end) for end in ("low", "high"))
        return self._records.record(
            {
                "name": name,
                "value": exact(value),
                "factor": exact(factor),
                "unit": unit,
                "text": line(text),
                "dimension": self._records.dimension(dimension),
                "low": low,
                "high": high,
                "parameter": declared is not None and declared.has_own_name,
                **({"set": True} if is_set_by_name else {}),
                **({"counts": True} if counts_things else {}),
                **({"assumed": True} if self._is_given(name, declared) else {}),
                "capacity": is_capacity,
                "decided": is_decided,
                "limit": is_limit,
                **({"need": True} if is_need else {}),
                "interval": interval,
                "place": place,
                "source": line(source),
                "bound": None if bounded is None else bounded.bound.name,
                "what": "" if bounded is None else bounded.what,
            }
        )


def _bound(declared: ir.Parameter | None, end: str) -> Json:
    bound = None if declared is None else getattr(declared, end)
    return exact(bound.value) if isinstance(bound, ir.Constant) else None
