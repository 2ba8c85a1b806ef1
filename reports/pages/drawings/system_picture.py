"""The first answer's drawing of the system, for who runs no scripts: the path of a request.

It stands where the scripts draw it, too (`live/charts/topology.js`), as wide as it can be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from math import floor, isfinite

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.diagnostics.render import printable
from qps.compiler.network.route import BACK, THERE, Route
from qps.compiler.quantities.certainty import Certainty, together
from qps.compiler.quantities.dimension import TIME
from qps.reports.pages.drawings.drawing_layers import HEIGHT, WIDTHS, DrawingLayout, laid_out
from qps.reports.pages.drawings.drawing_topology import (
    DrawingNode,
    DrawingTopology,
    places_of,
    topology_of,
)
from qps.reports.pages.drawings.request_strip import Strip, spans_of, strip_of
from qps.reports.pages.drawings.time_shapes import (
    SPENT,
    SPENT_WITH,
    Segment,
    Stop,
    is_drawn,
    share_of,
)
from qps.reports.text.layout.table import Table
from qps.reports.text.words.certainty_marks import marked_value
from qps.reports.text.words.labels import Labels, labels_of
from qps.reports.text.words.nouns import counted
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import percent, quantity, utilization_text
from qps.solver.details.answer_details import AnswerDetails
from qps.solver.details.request_path import StepThere

_EDGE, _LETTER, _SMALL = 7, 7.4, 6.4
_NAME_SIZES = (("", 1.0), (" smaller", 11 / 13), (" smallest", 9 / 13))
"""Classes of names by their part of the usual size, as `live/charts/topology.js` has them."""
_BAR = 9
_MOST_STEPS = 12
_WHOLE = 1 + 1e-9
_LEAST_SAID = 0.001
"""Of the time at a place: a smaller part is not named."""
"""More than a latency is no part of it."""


class PlacedStop(Stop, frozen=True, kw_only=True):
    """A stop at a place; `known` is the certainty of its time."""

    place: str
    known: Certainty


class DrawnLine(Struct, frozen=True):
    """A line between two boxes; whether it is passed, and in which directions."""

    path: str
    is_passed: bool
    is_there: bool
    is_back: bool


class DrawnBox(Struct, frozen=True, kw_only=True):
    """A box: its corner, its texts from above, the numbers of its steps, its bar."""

    x: int
    y: int
    is_link: bool
    is_passed: bool
    is_over: bool
    name: str
    name_size: str
    """The class of a name that is longer than its box."""
    steps: str
    texts: tuple[tuple[int, str], ...]
    most: str
    share: float
    segments: tuple[Segment, ...]


class SystemPicture(Struct, frozen=True, kw_only=True):
    """A drawing of all places, and the steps of a request as a strip and as a table."""

    title: str
    width: int
    height: int
    box: int
    high: int
    bar: int
    lines: tuple[DrawnLine, ...]
    boxes: tuple[DrawnBox, ...]
    legend: tuple[tuple[str, str], ...]
    strip: Strip
    steps: Table
    conclusion: str
    """Where most of the latency is spent, and with what; empty where no place has a share."""
    is_long: bool
    """Whether it has more steps than a screen: it is folded at first then."""


def system_picture(model: ir.Model, details: AnswerDetails, at: int) -> SystemPicture | None:
    """Return the picture at a population; None where nothing takes time, or there is no place."""
    topology, path = topology_of(details.network), details.path
    if path is None or not topology.places:
        return None
    total = path.mean
    labels = model.derived(labels_of)
    stops = tuple(_stops(path.steps, labels))
    drawn = [stop for stop in stops if is_drawn(total, stop.value)]
    numbers = {id(stop): place for place, stop in enumerate(drawn, 1)}
    here = _Readings(details=details, stops=stops, numbers=numbers, total=total)
    layout = laid_out(topology, WIDTHS[-1])
    shown = marked_value(quantity(total, TIME), total, path.mean_known)
    present = [spent for spent in SPENT if any(stop.spent[spent] > 0 for stop in stops)]
    return SystemPicture(
        title=printable(
            phrase(
                "page.request_path",
                stream=labels.of(path.stream),
                at=counted(at, model.population.name),
                latency=shown,
            )
        ),
        width=layout.width,
        height=layout.height,
        box=layout.box,
        high=HEIGHT,
        bar=_BAR,
        lines=tuple(_lines(layout, topology, path.route)),
        boxes=tuple(
            here.box(place, layout, index, is_passed=place.name in path.route.places)
            for index, place in enumerate(topology.places)
        ),
        legend=tuple((spent, SPENT[spent]) for spent in present),
        strip=strip_of(path, spans_of(path.steps, labels)),
        steps=here.table(),
        conclusion=printable(here.conclusion(labels.of(path.stream), labels)),
        is_long=len(drawn) > _MOST_STEPS,
    )


def _stops(steps: Sequence[StepThere], labels: Labels) -> Iterator[PlacedStop]:
    """Yield the stops of a path: what follows each other at one place is one."""

    def at(step: StepThere) -> tuple[int, str, str]:
        is_stage = step.kind in SPENT_WITH
        name = step.name if step.is_apart or not step.place else step.place
        return step.depth, name, "" if is_stage else step.kind

    for (depth, name, kind), group in groupby(steps, key=at):
        inside = list(group)
        if kind:
            continue
        spent = dict.fromkeys(SPENT, 0.0)
        for step in inside:
            spent[SPENT_WITH[step.kind]] += step.there
        known = together(*(step.known for step in inside))
        yield PlacedStop(
            place=inside[0].place, name=labels.stage(name), depth=depth, spent=spent, known=known
        )


def _lines(layout: DrawingLayout, topology: DrawingTopology, route: Route) -> Iterator[DrawnLine]:
    """Yield the lines, those that are passed last: they lie above the others."""
    passed = dict(topology.numbered(route))
    for at in sorted(range(len(layout.lines)), key=passed.__contains__):
        path = "M" + "L".join(f"{x},{y}" for x, y in layout.lines[at])
        directions = passed.get(at, 0)
        there, back = bool(directions & THERE), bool(directions & BACK)
        yield DrawnLine(path, bool(directions), there, back)


class _Readings(Struct, frozen=True, kw_only=True):
    """The readings of places at the answer."""

    details: AnswerDetails
    stops: tuple[PlacedStop, ...]
    numbers: Mapping[int, int]
    total: float

    def box(
        self, place: DrawingNode, layout: DrawingLayout, at: int, *, is_passed: bool
    ) -> DrawnBox:
        """Return the box of a place."""
        x, y = layout.corners[at]
        own = [stop for stop in self.stops if stop.place == place.name]
        spent = {word: sum(stop.spent[word] for stop in own) for word in SPENT}
        taken = sum(spent.values())
        loads = self._loads(place)
        what = (
            self.details.in_force.nodes[place.name].machine
            if place.kind == "node"
            else self.details.in_force.links[place.name].network
        )
        full = [f"{name} {utilization_text(load)}".strip() for name, load, _ in loads[:1]]
        rest = loads[1:]
        named = [what] if what else []
        more = []
        if rest and isfinite(rest[0][1]):
            more = [phrase("report.more_below", count=len(rest), floor=floor(rest[0][1] * 100) + 1)]
        width = layout.box - 2 * _EDGE
        both = " · ".join([*full, *named])
        first = both if len(both) <= width / _SMALL else (full or named)[0]
        above = [first, *more] if more else [*full, *named]
        texts = list(zip((32, 46), above, strict=False))
        if own:
            texts.append((62, f"{self._time(taken, own, 3)}, {self._share(taken)}"))
        steps = [self.numbers[id(stop)] for stop in own if id(stop) in self.numbers]
        steps_text = f"{len(steps)} ×" if len(steps) > 2 else ", ".join(map(str, steps))  # noqa: PLR2004
        room = (width - 8 * len(steps_text)) / _LETTER
        fitting = (one for one in _NAME_SIZES if len(place.name) <= room / one[1])
        size, part = next(fitting, _NAME_SIZES[-1])
        return DrawnBox(
            x=x,
            y=y,
            is_link=place.kind == "link",
            is_passed=is_passed,
            is_over=any(is_over for _, _, is_over in loads),
            name=_cut(place.name, room / part),
            name_size=size,
            steps=steps_text,
            texts=tuple((below, _cut(text, width / _SMALL)) for below, text in texts if text),
            most=max(SPENT, key=lambda word: spent[word]),
            share=share_of(self.total, taken) if own else 0.0,
            segments=tuple(self._segments(spent, x + _EDGE, width)),
        )

    def table(self) -> Table:
        """Return the steps of the path, in order."""
        rows = tuple(
            (
                str(self.numbers[id(stop)]),
                printable("\u2003" * stop.depth + stop.name),
                self._time(stop.value, [stop], 4),
                self._share(stop.value),
                *(self._label(stop.spent[word]) for word in SPENT),
            )
            for stop in self.stops
            if id(stop) in self.numbers
        )
        spent = (name.capitalize() for name in SPENT.values())
        headings = ("Step", phrase("report.stage_mean_per_item"), "Time", "Share", *spent)
        return Table(headings, rows, frozenset({0, *range(2, len(headings))}))

    def conclusion(self, stream: str, labels: Labels) -> str:
        """Return where most of the latency is spent: what is called together may be none of it."""
        places: dict[str, dict[str, float]] = {}
        for stop in (one for one in self.stops if one.place):
            spent = places.setdefault(stop.place, dict.fromkeys(SPENT, 0.0))
            for word, taken in stop.spent.items():
                spent[word] += taken
        if not isfinite(self.total) or self.total <= 0 or not places:
            return ""
        place, spent = max(places.items(), key=lambda one: sum(one[1].values()))
        share = sum(spent.values()) / self.total
        if share > _WHOLE:
            return ""
        least = _LEAST_SAID * sum(spent.values())
        named = (word for word in SPENT if spent[word] > least)
        parts = sorted(named, key=lambda word: -spent[word])
        written = [f"{percent(spent[word] / self.total, 2)} {SPENT[word]}" for word in parts]
        return phrase(
            "way.most",
            share=percent(share, 2),
            stream=stream,
            place=labels.of(place),
            spent=SPENT[parts[0]] if len(parts) == 1 else ", ".join(written),
        )

    def _loads(self, place: DrawingNode) -> list[tuple[str, float, bool]]:
        """Return the resources at a place, and the ports to it, the fullest first."""
        found = []
        for name, there in self.details.loads.items():
            places = places_of(self.details.network, name)
            if place.name in places:
                label = printable(name[len(place.name) + 1 :] if place.name == places[0] else name)
                found.append((label, there.load, there.is_over))
        return sorted(found, key=lambda one: -one[1])

    def _time(self, duration: float, stops: Sequence[PlacedStop], digits: int) -> str:
        known = together(*(stop.known for stop in stops))
        return marked_value(quantity(duration, TIME, digits), duration, known)

    def _label(self, duration: float) -> str:
        return quantity(duration, TIME) if is_drawn(self.total, duration) else ""

    def _share(self, duration: float) -> str:
        return percent(share_of(self.total, duration))

    def _segments(self, spent: Mapping[str, float], x: float, room: float) -> Iterator[Segment]:
        times: dict[str, float] = {}
        for stop in self.stops:
            times[stop.place] = times.get(stop.place, 0.0) + stop.value
        longest = max((time for time in times.values() if isfinite(time)), default=0.0)
        is_endless = not all(map(isfinite, spent.values()))
        for word, taken in spent.items():
            part = float(not isfinite(taken)) if is_endless else taken / (longest or 1)
            if part > 0:
                yield Segment(word, round(x, 1), round(part * room, 1))
                x += part * room


def _cut(text: str, most: float) -> str:
    text = printable(text)
    return text if len(text) <= most else text[: max(3, int(most) - 1)] + "…"
