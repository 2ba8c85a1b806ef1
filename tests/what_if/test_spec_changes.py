"""Changes of the text of a spec: what each gives is that of the spec with its lines."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import qps
from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.pipeline import check_source
from qps.compiler.syntax.text_edits import TextEdit, edited
from qps.reports.text.solutions.change_wording import changes_of
from qps.solver.answers.answer_parts import Advice, ChangeKind, LineChange, RewriteMethod
from qps.solver.answers.worst_mode import solve_model
from qps.solver.solved_spec import solved_spec
from qps.solver.spec_changes.statement_edits import line_changes, removal
from qps.solver.uncertainty.interval_result import Sampling

TWO_MACHINES = """
users N in 1..10_000
machine server { cpu 1 core, queueing mm1; price 0.4 $/hour }
network lan { switched; rate 10 Gbit/s; queueing none }
component render { cpu 5 ms/request }
component shrink { cpu 5 ms/request }
topology {
  node web   = server
  node media = server
  link rack  = lan between web, media
}
stream page for each user {
  traffic 0.1 request/s, 10 kB/request
  at web { render; shrink }
  over rack
  at media { }
}
"""
REPORTS = """
users N in 1..10_000
machine server { cpu 1 core, queueing mm1 }
component render { cpu 10 ms/request }
component crunch { cpu 100 ms/request }
topology { node web = server }
stream page for each user {
  traffic 0.01 request/s
  at web { render }
}
stream report in all { traffic 2 request/s; at web { crunch } }
require { page.latency <= 50 ms }
"""
THREADS = """
users N in 1..10_000
unit thread
machine server { cpu 64 core, queueing mmc; threads 10 thread }
component fast { delay 50 ms }
component slow { delay 900 ms }
topology { node app = server }
stream order for each user { traffic 0.01 request/s; at app { take threads; fast; give threads } }
stream export in all { traffic 8 request/s; at app { take threads; slow; give threads } }
require { order.latency <= 75 ms }
"""
NIGHTLY = """
users N in 1..100_000
unit job
profile visits over day { 08:00..22:00 = 1; else = 0.1 }
machine server { cpu 1 core }
component render { cpu 10 ms/request }
component crunch { cpu 300 ms/job }
topology { node app = server }
stream page for each user { traffic 0.01 request/s * visits; at app { render } }
stream etl in all { traffic 1 job/s; at app { crunch } }
"""
CACHED = """
users N in 1..1_000_000
param hit = 80 % in 0..100 %
machine server { cpu 1 core, queueing mmc }
network lan { switched; rate 10 Gbit/s; queueing none }
component render { cpu 0.1 ms/request }
component query { cpu 10 ms/request }
topology { node app = server; node db = server; link rack = lan between app, db }
stream page for each user {
  traffic 0.01 request/s, 1 kB/request
  at app { render; call db * (1 - hit) { query } }
}
"""
CORES = """
users N in 1..10_000
machine server { cpu 4 core, queueing mmc }
component render { cpu 10 ms/request }
component crunch { cpu 0.7 s/request }
topology { node web = server }
stream page for each user { traffic 0.01 request/s; at web { render } }
stream report in all {
  traffic 2.5 request/s
  at web { crunch }
}
require { page.latency <= 50 ms }
"""
RANKED = REPORTS.replace("queueing mm1", "queueing priority").replace(
    "stream report in all {", "stream report in all { priority 1;"
)
BURSTS = REPORTS.replace("traffic 2 request/s;", "traffic 2 request/s; arrivals cv 3;")
ALONE = """
users N in 1..10_000
machine server { cpu 1 core, queueing mm1 }
network lan { switched; rate 10 Gbit/s; queueing none }
component render { cpu 5 ms/request }
component shrink { cpu 5 ms/request }
topology {
  node web   = server
  node media = server
  link rack  = lan between web, media
}
stream page for each user { traffic 0.1 request/s, 10 kB/request; at web { render; shrink } }
"""
CALLED = """
users N in 1..10_000
machine server { cpu 1 core, queueing mm1 }
network lan { switched; rate 10 Gbit/s; queueing none }
component render { cpu 1 ms/request }
component query { cpu 5 ms/request }
topology {
  node web  = server
  node db   = server
  node copy = server * 2
  link rack = lan between web, db, copy
}
stream page for each user {
  traffic 0.1 request/s, 10 kB/request
  at web { render; call db { query } }
}
"""
SPECS = {
    "two_machines": TWO_MACHINES,
    "reports": REPORTS,
    "threads": THREADS,
    "nightly": NIGHTLY,
    "cached": CACHED,
    "cores": CORES,
    "ranked": RANKED,
    "bursts": BURSTS,
    "alone": ALONE,
    "called": CALLED,
}


def _advised(text: str, *settings: str) -> tuple[Advice, ...]:
    spec = check_source(Source("spec.qps", text)).value
    assert spec is not None
    solved = solved_spec(
        spec, None, settings, advice=True, sampling=Sampling(), with_confidence=False
    )
    return solved.answer.advice


def _by_method(text: str, *settings: str) -> dict[RewriteMethod, list[Advice]]:
    found: dict[RewriteMethod, list[Advice]] = {}
    for one in _advised(text, *settings):
        if one.rewrite is not None:
            found.setdefault(one.rewrite.method, []).append(one)
    return found


def written(text: str, lines: Sequence[LineChange]) -> str:
    """Return a text with the lines that are printed: as a reader writes them."""
    found = text.split("\n")
    for one in sorted(lines, key=lambda line: (-line.line, not line.before)):
        many = one.before.count("\n") + 1 if one.before else 0
        place = slice(one.line - 1, one.line - 1 + many)
        assert not many or "\n".join(found[place]) == one.before
        found[place] = one.after.split("\n") if one.after else []
    return "\n".join(found)


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in SPECS.items()])
def test_each_change_gives_what_the_spec_with_its_lines_gives(text: str) -> None:
    advice = [one for one in _advised(text) if one.rewrite is not None]
    assert advice or text is CACHED
    now = qps.loads(text).solve().capacity or 0
    for one in advice:
        assert one.rewrite is not None
        anew = qps.loads(written(text, one.rewrite.lines)).solve().capacity
        assert (one.capacity, one.set) == (anew, False), one.change
        assert one.capacity >= 1.1 * now


def test_a_step_that_moves_doubles_the_capacity() -> None:
    # 10 ms of web become 5 ms of each: 0.1 request/s * N * 5 ms < 1
    moved = _by_method(TWO_MACHINES)[RewriteMethod.MOVED_STEP]
    assert [(one.capacity, one.to, one.kind) for one in moved] == [
        (1999, "media.cpu", ChangeKind.SHIFT)
    ] * 2
    # 999 users load media to 49.95 %
    assert moved[0].headroom == pytest.approx(0.5005)
    assert moved[0].running_price == 0


def test_a_machine_is_called_for_a_step_that_it_has_no_visit_for() -> None:
    (first, _) = _by_method(ALONE)[RewriteMethod.CALLED_STEP]
    assert first.capacity == 1999
    assert first.rewrite is not None
    assert "call media { render }" in first.rewrite.lines[0].after


def test_calls_go_to_another_machine() -> None:
    # 5 ms on one of two machines; 6 ms at home carry no more than 5 ms at the database
    found = _by_method(CALLED)
    (call,) = found[RewriteMethod.MOVED_CALL]
    assert (call.to, call.capacity) == ("copy.cpu", 3999)
    assert RewriteMethod.MOVED_STEP not in found


def test_priority_rescues_who_waits() -> None:
    """With preemption the page is an M/M/1 queue by itself: 10 ms / (1 - rho) <= 50 ms."""
    found = _by_method(REPORTS)
    (preemptive,) = found[RewriteMethod.PREEMPTION]
    # All of it must be served: 0.2 + N * 0.1 ms < 1 binds before rho = 80 %.
    assert preemptive.capacity == 7999
    # Without: W0 / (1 - rho), W0 = 2 * 0.1^2 + 0.01 N * 0.01^2 s; at most 40 ms.
    (polite,) = found[RewriteMethod.PRIORITY]
    least = [n for n in range(1, 8000) if 0.02 + n * 1e-6 <= 0.04 * (1 - n * 1e-4)]
    assert polite.capacity == least[-1]
    # Shared, 10 ms / (1 - 0.2 - rho) <= 50 ms.
    (shared,) = found[RewriteMethod.SHARING]
    assert shared.capacity == 6000


def test_who_is_ranked_behind_goes_first() -> None:
    (one,) = _by_method(RANKED)[RewriteMethod.PRIORITY]
    assert one.rewrite is not None
    assert [line.after.partition("traffic")[0] for line in one.rewrite.lines] == [
        "  priority 1",
        "stream report in all { priority 2; ",
    ]


def test_units_of_a_pool_are_reserved() -> None:
    (one,) = _by_method(THREADS)[RewriteMethod.OWN_UNITS]
    assert one.kind is ChangeKind.RESERVATION
    assert one.rewrite is not None
    assert "threads 8 thread; order_threads 2 thread" in one.rewrite.lines[0].after


def test_cores_are_left_free() -> None:
    (one,) = _by_method(CORES)[RewriteMethod.LIMITED_WORK]
    assert one.rewrite is not None
    assert one.rewrite.parts == ("report", "2", "4", "web.cpu", "page")


def test_batch_work_runs_at_night() -> None:
    # By day, 0.1 ms * N <= 1 is all; before, 0.7 was left.
    (one,) = _by_method(NIGHTLY)[RewriteMethod.OTHER_HOURS]
    assert one.capacity == 10_000
    assert one.rewrite is not None
    assert one.rewrite.parts == ("etl", "22:00", "08:00")
    assert qps.loads(NIGHTLY).solve().capacity == 7000


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("stream etl in all", "require { etl.latency <= 1 hour }\nstream etl in all"),
        ("1 job/s;", "1 job/s * visits;"),
        ("stream etl in all { traffic 1 job/s", "stream etl for each user { traffic 1e-3 job/s"),
    ],
)
def test_work_with_a_requirement_is_not_moved(old: str, new: str) -> None:
    assert RewriteMethod.OTHER_HOURS not in _by_method(NIGHTLY.replace(old, new))


def test_a_larger_cache_is_less_demand() -> None:
    # 2 ms of the database become 1.2 ms
    (one,) = (one for one in _advised(CACHED) if one.name == "hit")
    assert (one.kind, one.capacity) == (ChangeKind.DEMAND, 83_333)


def test_a_wait_is_no_matter_of_a_utilization() -> None:
    without = REPORTS.replace("require { page.latency <= 50 ms }\n", "")
    assert not _by_method(without)


def test_what_changes_the_stream_stays_where_it_is() -> None:
    packed = TWO_MACHINES.replace("shrink { cpu", "shrink { emit 50 %; cpu")
    moved = _by_method(packed)[RewriteMethod.MOVED_STEP]
    assert [one.name for one in moved] == ["render"]


def test_memory_stays_where_it_is() -> None:
    held = TWO_MACHINES.replace("price", "memory 1 GB; price").replace(
        "shrink { cpu 5 ms/request }", "shrink { memory 2 MB }"
    )
    assert not _by_method(held)


def test_settings_hold_in_the_changed_spec() -> None:
    moved = _by_method(TWO_MACHINES, "web = server * 2", "media = server * 2")
    assert {one.capacity for one in moved[RewriteMethod.MOVED_STEP]} == {3999}


# -- two changes together --------------------------------------------------------------------


def test_two_places_together_where_one_is_stopped_by_the_next_limit() -> None:
    text = CALLED.replace("render { cpu 1 ms", "render { cpu 4 ms")
    advice = _advised(text)
    capacities = {one.change: one.capacity for one in advice}
    assert capacities["db = server * 2"] == 2499
    (pair,) = (one for one in advice if one.together)
    assert (pair.change, pair.capacity) == ("db = server * 2, web = server * 2", 3999)
    spec = check_source(Source("spec.qps", text)).value
    assert spec is not None
    both = spec.configuration(None, ("db = server * 2", "web = server * 2"))
    assert solve_model(spec.model, both).capacity == pair.capacity
    view = changes_of(spec.model, spec.configuration(), {}).viewed(pair)
    assert view.together == ("db = server * 2", "web = server * 2")
    assert view.words == "db: 1 -> 2 servers and web: 1 -> 2 servers"


TIERS = """
users N in 1..100_000
machine vm { cpu 4 core, queueing mmc; price 60 $/month }
network lan { switched; rate 10 Gbit/s; queueing none }
component work { cpu 10 ms/request }
topology { node web = vm * 2; node app = vm * 2; node db = vm * 2; link net = lan between all }
stream page for each user {
  traffic 0.1 request/s, 1 kB/request; at web { work }; at app { work }; at db { work }
}
target cpu 70 %
"""


def test_all_places_together_where_more_than_two_are_equally_full() -> None:
    # 8 cores of each tier at 70 % do 560 requests/s of 10 ms; 16 cores do twice as many
    spec = check_source(Source("spec.qps", TIERS)).value
    assert spec is not None
    assert solve_model(spec.model, spec.configuration()).capacity == 5_600
    (every,) = (one for one in _advised(TIERS) if one.together)
    assert every.capacity == 11_200
    view = changes_of(spec.model, spec.configuration(), {}).viewed(every)
    assert view.together is not None
    assert sorted(view.together) == ["app = vm * 4", "db = vm * 4", "web = vm * 4"]
    assert view.words.endswith(": 2 -> 4 servers each")
    for missing in view.together:  # no two of them help
        settings = tuple(one for one in view.together if one != missing)
        part = spec.configuration(None, settings)
        assert solve_model(spec.model, part).capacity == 5_600


def test_one_place_is_enough_where_the_limit_stays() -> None:
    assert not any(one.together for one in _advised(REPORTS))


# -- edits -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "statement", "left"),
    [
        ("{ a; b; c }", "a", "{ b; c }"),
        ("{ a; b; c }", "c", "{ a; b }"),
        ("{ a }", "a", "{  }"),
        ("x\n  a\ny\n", "a", "x\ny\n"),
    ],
)
def test_a_statement_is_removed_with_what_separates_it(
    text: str, statement: str, left: str
) -> None:
    start = text.index(statement)
    edit = removal(Span(Source("spec.qps", text), start, start + len(statement)))
    assert edited(text, [edit]) == left
    assert written(text, line_changes(text, [edit])) == left


def test_edits_of_one_line_are_one_change() -> None:
    text = "a; b; c\nd\n"
    edits = [TextEdit(0, 1, "x"), TextEdit(6, 7, "z")]
    assert line_changes(text, edits) == (LineChange(1, "a; b; c", "x; b; z"),)
