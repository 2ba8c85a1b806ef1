"""What an incident comes to, in words: for a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import inf

from qps.compiler import ir
from qps.compiler.quantities.dimension import TIME
from qps.reports.text.incidents.mitigation_text import (
    SHOWN_COUNT,
    amount,
    mitigation_notes,
    mitigations_table,
    over_at,
)
from qps.reports.text.incidents.server_facts import server_facts
from qps.reports.text.layout.text_layout import TextLayout
from qps.reports.text.solutions.course_text import bar, duration
from qps.reports.text.words.labels import Labels
from qps.reports.text.words.nouns import counted
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import number, percent, quantity
from qps.solver.incidents.incident_result import (
    IncidentAnswer,
    RandomBacklog,
)
from qps.solver.incidents.incident_system import (
    CoursePoint,
    FluidCourse,
    IncidentSystem,
    RequestStream,
)

_STRIP = 40
_MOST_BACKLOGS = 3
_FACTS_OF_END = 2
"""When it is over, and how accurate that is."""
SHOWN_BACKLOG = 0.1
"""In s: less is no backlog that anybody notices."""


def incident_layout(
    answer: IncidentAnswer, incident: ir.Incident, model: ir.Model, place: str, labels: Labels
) -> TextLayout:
    """Return what an incident comes to."""
    facts = incident_facts(answer, incident, model, labels)
    end = len(facts) - _FACTS_OF_END
    return TextLayout(
        title=phrase("incident.title", model=model.name, incident=answer.name),
        place=place,
        facts=(*facts[:end], *_strips(answer.course), *facts[end:]),
        tables=(mitigations_table(answer),),
        notes=mitigation_notes(answer),
    )


def incident_facts(
    answer: IncidentAnswer, incident: ir.Incident, model: ir.Model, labels: Labels
) -> list[tuple[str, str]]:
    """Return what an incident comes to, as facts with labels; last when it is over."""
    course, system = answer.course, answer.system
    rate = sum(one.rate for one in system.streams)
    users = counted(answer.at, model.population.name)
    if system.mode:
        users = phrase("incident.users_in", users=users, mode=system.mode)
    if system.moment:
        users = phrase("incident.users_at", users=users, moment=system.moment)
    at = phrase("incident.at", users=users, rate=number(rate))
    return [
        (phrase("incident.label.at"), at),
        (phrase("incident.label.happens"), _happens(answer, incident)),
        *_worst(course, labels),
        *_attempts(course),
        *_backlogs(answer, labels),
        *_lost(course, system, labels),
        *_late(course, system, labels),
        *server_facts(course, system),
        *_caches(course, system),
        *_other_modes(answer),
        (phrase("incident.label.over"), labels.sentence(_over(answer, labels))),
        (phrase("incident.label.accuracy"), _accuracy(system)),
    ]


def constant_facts(answer: IncidentAnswer, incident: ir.Incident) -> dict[str, str]:
    """Return the facts that no setting of a page changes, by the keys of their labels."""
    return {"happens": _happens(answer, incident), "accuracy": _accuracy(answer.system)}


def _other_modes(answer: IncidentAnswer) -> Iterator[tuple[str, str]]:
    """Yield when it is over in the other modes, the worst first."""
    label = phrase("incident.label.modes")
    for one in answer.others:
        key = "incident.mode_lost" if one.course.lost >= SHOWN_COUNT else "incident.mode"
        over, lost = _over_in_words(one), amount(one.course.lost)
        yield label, phrase(key, mode=one.system.mode, over=over, lost=lost)
        label = ""


def _accuracy(system: IncidentSystem) -> str:
    """Return how accurate an answer is, and for which streams it is less so."""
    found = [
        one.name for one in system.streams if any(each.has_parallel_calls for each in one.routes)
    ]
    if not found:
        return phrase("incident.accuracy")
    return phrase("incident.accuracy_in_series", streams=", ".join(found))


def _happens(answer: IncidentAnswer, incident: ir.Incident) -> str:
    """Return what happens, in the order of the spec."""
    system, parts = answer.system, []
    capacity, traffic = iter(system.capacity_changes), list(system.traffic_changes)
    flushes = iter(system.flushes)
    for one in incident.disturbances:
        if one.kind is ir.DisturbanceKind.EMPTY:
            at = duration(next(flushes).at)
            parts.append(phrase("incident.empty", target=one.target, start=at))
            continue
        if one.kind is ir.DisturbanceKind.SURGE:
            change = traffic.pop(0)
            traffic = [each for each in traffic if each.start != change.start]
            what = phrase("incident.surge", target=one.target, amount=percent(change.factor - 1))
            start, end = change.start, change.end
        else:
            lost = next(capacity)
            start, end = lost.start, lost.end
            what = _of_node(one, lost.factor)
        parts.append(
            phrase("incident.happens", what=what, start=duration(start), end=duration(end))
        )
    return "; ".join(parts)


def _of_node(one: ir.Disturbance, factor: float) -> str:
    if one.kind is ir.DisturbanceKind.SLOW:
        return phrase("incident.slow", target=one.target, amount=percent(1 - factor))
    does = "fail" if one.kind is ir.DisturbanceKind.FAIL else "lose"
    if one.count is None:
        return phrase(f"incident.{does}", target=one.target)
    number = "one" if one.count == 1 else "some"
    return phrase(f"incident.{does}_{number}", target=one.target, count=one.count)


# -- the course ------------------------------------------------------------------------------


def _worst(course: FluidCourse, labels: Labels) -> Iterator[tuple[str, str]]:
    label = phrase("incident.label.worst")
    for one in course.streams:
        if one.worst > 0:
            yield (
                label,
                labels.sentence(
                    phrase(
                        "incident.worst",
                        stream=labels.of(one.stream),
                        worst=duration(one.worst),
                        at=duration(one.worst_at),
                    )
                ),
            )
            label = ""


def _attempts(course: FluidCourse) -> Iterator[tuple[str, str]]:
    point = max(course.points, key=lambda one: one.offered + one.retries)
    if any(one.retries for one in course.streams) and point.retries > 0:
        rate, at = number(point.offered + point.retries), duration(point.at)
        yield phrase("incident.label.attempts"), phrase("incident.attempts", rate=rate, at=at)


def _backlogs(answer: IncidentAnswer, labels: Labels) -> Iterator[tuple[str, str]]:
    course, system = answer.course, answer.system
    found = []
    for place, station in enumerate(system.stations):
        point = max(course.points, key=lambda one: one.backlogs[place])
        if point.backlogs[place] > SHOWN_BACKLOG:
            key = "incident.backlog_grows" if course.is_growing(place) else "incident.backlog"
            found.append((point.backlogs[place], point.at, station.name, key))
    label = phrase("incident.label.backlog")
    for worst, at, name, key in sorted(found, reverse=True)[:_MOST_BACKLOGS]:
        yield (
            label,
            labels.sentence(
                phrase(
                    key,
                    resource=labels.of(name),
                    worst=duration(worst),
                    at=duration(at),
                )
            ),
        )
        label = ""
    for one in _shown_random(answer):
        text = phrase(
            "incident.random_backlog",
            resource=labels.of(system.stations[one.place].name),
            worst=duration(one.worst),
            load=percent(one.load),
            end=duration(one.end),
        )
        yield label, labels.sentence(text)
        label = ""


def _shown_random(answer: IncidentAnswer) -> list[RandomBacklog]:
    return [one for one in answer.random_backlogs if one.worst > SHOWN_BACKLOG][:_MOST_BACKLOGS]


def _lost(course: FluidCourse, system: IncidentSystem, labels: Labels) -> Iterator[tuple[str, str]]:
    label = phrase("incident.label.lost")
    for one, stream in zip(course.streams, system.streams, strict=True):
        if one.lost < SHOWN_COUNT:
            continue
        has_errors = any(each.answers_errors for each in system.capacity_changes)
        cause = "errors_or_timeout" if has_errors else "lost"
        lost = phrase(
            f"incident.{cause if stream.retry else 'errors'}",
            stream=labels.of(one.stream),
            lost=amount(one.lost),
            sent=amount(one.sent),
            part=percent(min(1.0, one.lost / one.sent)),
            timeout=quantity(stream.retry.timeout if stream.retry else 0.0, TIME),
        )
        if stream.retry is not None and stream.retry.retries:
            many = stream.retry.retries
            retries = phrase("incident.retry" if many == 1 else "incident.retries", many=many)
            lost = phrase("incident.lost_after", lost=lost, retries=retries)
        if course.is_partial:
            lost = phrase("incident.lost_so_far", lost=lost, at=duration(course.counted_until))
        yield label, labels.sentence(lost)
        label = ""


def _late(course: FluidCourse, system: IncidentSystem, labels: Labels) -> Iterator[tuple[str, str]]:
    label = phrase("incident.label.late")
    for one, stream in zip(course.streams, system.streams, strict=True):
        if stream.limit is None or one.late < SHOWN_COUNT:
            continue
        late = phrase(
            "incident.late",
            stream=labels.of(one.stream),
            late=amount(one.late),
            sent=amount(one.sent),
            limit=quantity(stream.limit, TIME),
        )
        if course.is_partial:
            late = phrase("incident.lost_so_far", lost=late, at=duration(course.counted_until))
        yield label, labels.sentence(late)
        label = ""


def _caches(course: FluidCourse, system: IncidentSystem) -> Iterator[tuple[str, str]]:
    label = phrase("incident.label.cache")
    emptied = {one.cache for one in system.flushes}
    for place, cache in enumerate(system.caches):
        if cache.name not in emptied:
            continue
        point = min(course.points, key=lambda one: one.hit_rates[place])
        yield (
            label,
            phrase(
                "incident.cache",
                cache=cache.name,
                low=percent(point.hit_rates[place]),
                at=duration(point.at),
                end=percent(course.points[-1].hit_rates[place]),
            ),
        )
        label = ""


def _strips(course: FluidCourse) -> Iterator[tuple[str, str]]:
    """Yield the course as rows of bars: requests with retries, backlogs, losses."""
    shown: tuple[tuple[str, Callable[[CoursePoint], float]], ...] = (
        ("incident.label.strip_load", lambda one: one.offered + one.retries),
        ("incident.label.strip", lambda one: max(one.backlogs, default=0.0)),
        ("incident.label.strip_lost", lambda one: one.failed),
    )
    end = duration(course.points[-1].at)
    for key, value in shown:
        values = _compressed([value(one) for one in course.points])
        most = max(values)
        if most > 0:
            bars = "".join(bar(one, most) for one in values)
            yield phrase(key), phrase("incident.strip", bars=bars, end=end)


def _compressed(values: Sequence[float]) -> list[float]:
    """Return the largest of each part, of as many parts as a row has marks."""
    parts = min(_STRIP, len(values))
    bounds = [len(values) * part // parts for part in range(parts + 1)]
    return [max(values[first:last]) for first, last in pairwise(bounds)]


# -- when it is over -------------------------------------------------------------------------


def _over(answer: IncidentAnswer, labels: Labels) -> str:
    course, system = answer.course, answer.system
    if answer.variation:
        return phrase("incident.by_chance", variation=percent(answer.variation))
    if not course.returns:
        place = answer.bottleneck or 0
        resource = labels.of(system.stations[place].name)
        last = course.points[-1]
        if last.retries > 0:
            passing = (one for one in system.streams if _passes(one, place))
            offered = number(sum(one.rate for one in passing) + last.retries)
            return phrase("incident.never_retries", offered=offered, resource=resource)
        return phrase("incident.never", resource=resource)
    if not answer.is_certain:
        return _by_random_waits(answer, labels)
    random = _shown_random(answer)
    at = max((one.cleared_at for one in random), default=0.0)
    if course.cleared_at < at < inf:
        return phrase("incident.random_over", at=duration(at))
    if course.cleared_at <= system.start:
        return phrase("incident.no_backlog")
    key = "incident.extrapolated" if course.is_extrapolated else "incident.over"
    over = phrase(key, at=duration(course.cleared_at))
    if course.lost < SHOWN_COUNT or course.is_extrapolated:
        return over
    return f"{over}; {phrase('incident.in_time', at=duration(course.in_time_at))}"


def _by_random_waits(answer: IncidentAnswer, labels: Labels) -> str:
    """Return that retries may overload the system by themselves, with the worst of the streams."""
    worst = max(answer.chance_timeouts, key=lambda one: one.share)
    return phrase(
        "incident.random_waits",
        stream=labels.of(worst.stream),
        share=percent(worst.share),
        timeout=quantity(worst.timeout, TIME),
        resource=labels.of(worst.resource),
        load=percent(worst.load),
    )


def over_in_short(answer: IncidentAnswer) -> str:
    """Return the name of an incident and when it is over."""
    name, mode = answer.name, answer.system.mode
    if mode:
        name = phrase("incident.name_in", name=name, mode=mode)
    return phrase("incident.over_in_short", name=name, over=_over_in_words(answer))


def _over_in_words(answer: IncidentAnswer) -> str:
    if answer.variation:
        return phrase("incident.by_chance_short")
    if not answer.is_certain:
        return phrase("incident.random_waits_short")
    course = answer.course
    return over_at(course.cleared_at, is_extrapolated=course.is_extrapolated)


def _passes(stream: RequestStream, place: int) -> bool:
    return any(station == place for route in stream.routes for station, _ in route.visits)
