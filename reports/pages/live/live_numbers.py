"""Numbers of a spec as a page holds them: what each is, between which ends, where stated."""

from __future__ import annotations

from fractions import Fraction

from qps.compiler import ir
from qps.compiler.quantities.dimension import Dimension
from qps.reports.pages.json_values import Json
from qps.reports.pages.live.live_records import LiveRecords, exact, line
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.spec_units import interval_text, unit_of
from qps.solver.variants.starting_points import StartNumber
from qps.solver.variants.variant_graphs import VariantNumber


class LiveNumbers:
    """Tells numbers as records."""

    def __init__(self, model: ir.Model, records: LiveRecords) -> None:
        self._model = model
        self._records = records
        self._parameters = {parameter.name: parameter for parameter in model.parameters}

    def of_graph(self, number: VariantNumber) -> int:
        """Return the record of a number that a graph rests on."""
        one, bounded = number.assumption, number.bounded
        encoded = self._number(
            one.name, one.fraction, one.dimension, one.text, is_set=number.is_set_by_name
        )
        return self._records.record(
            {
                **encoded,
                **({"counts": True} if one.counts_things else {}),
                **({"assumed": True} if number.is_input else {}),
                **({"places": True} if number.counts_places else {}),
                "capacity": one.is_capacity,
                "decided": number.is_decided,
                "limit": number.is_limit,
                **({"need": True} if number.is_need else {}),
                "interval": interval_text(self._model, one),
                "place": one.span.place,
                "source": line(one.source),
                "bound": None if bounded is None else bounded.bound.name,
                "what": "" if bounded is None else bounded.what,
            }
        )

    def of_start(self, number: StartNumber) -> int:
        """Return the record of a number that a start sets."""
        encoded = self._number(
            number.name, number.value, number.dimension, number.span.text, is_set=True
        )
        return self._records.record(
            {
                **encoded,
                **({"assumed": True} if number.is_input else {}),
                "capacity": False,
                "decided": False,
                "limit": False,
                "interval": "",
                "place": None,
                "source": phrase("report.set_at", place=number.span.place),
                "bound": None,
                "what": "",
            }
        )

    def _number(
        self, name: str, value: Fraction, dimension: Dimension, text: str, *, is_set: bool
    ) -> dict[str, Json]:
        """Return the record of every number."""
        declared = self._parameters.get(name)
        factor, unit = unit_of(text, value, dimension)
        low, high = (_bound(declared, end) for end in ("low", "high"))
        return {
            "name": name,
            "value": exact(value),
            "factor": exact(factor),
            "unit": unit,
            "text": line(text),
            "dimension": self._records.dimension(dimension),
            "low": low,
            "high": high,
            "parameter": declared is not None and declared.has_own_name,
            **({"set": True} if is_set else {}),
        }


def _bound(declared: ir.Parameter | None, end: str) -> Json:
    bound = None if declared is None else getattr(declared, end)
    return exact(bound.value) if isinstance(bound, ir.Constant) else None
