"""What many judged specs come to: counts of labels that hold, of those that state nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from hashlib import sha256
from math import inf
from pathlib import Path

import pytest
from msgspec.structs import replace

from qps.compiler.quantities.certainty import CertaintyKind
from qps.compiler.quantities.measured_errors import ErrorAxis, ErrorQuantity, ErrorRow, Errors
from simulated.error_rows import errors_of
from simulated.generated import spec_of
from simulated.measuring_errors import of_method, renewed, table_of
from simulated.number_errors import Off
from simulated.records import Model, Number, Play, line_of, retained
from simulated.report import Counts, Stored

_SURE = Play(100.0, 0.1, 20, 10_000)
_SOME = Play(100.0, 20.0, 20, 10_000)


def _number(
    predicted: float,
    kind: CertaintyKind = CertaintyKind.EXACT,
    error: float | None = None,
    subject: str = "s",
) -> Number:
    return Number(
        subject=subject,
        measure="latency",
        predicted=predicted,
        kind=kind,
        error=error,
        why=("so",),
        played=_SURE,
        again=_SURE,
        bands={"copies": "1"},
    )


@pytest.mark.parametrize(
    ("one", "outside"),
    [
        (_number(100.05), (0, 0, 0)),
        (_number(102), (1, 0, 0)),
        (_number(102, CertaintyKind.UPPER_BOUND), (0, 0, 0)),
        (_number(98, CertaintyKind.UPPER_BOUND), (0, 1, 0)),
        (_number(102, CertaintyKind.LOWER_BOUND), (0, 1, 0)),
        (_number(109, CertaintyKind.APPROXIMATION, 0.1), (0, 0, 0)),
        (_number(112, CertaintyKind.APPROXIMATION, 0.1), (0, 0, 1)),
        (_number(180, CertaintyKind.APPROXIMATION), (0, 0, 0)),
        (_number(400, CertaintyKind.APPROXIMATION, 1.1), (0, 0, 0)),
    ],
)
def test_what_is_outside_is_counted_by_its_label(
    one: Number, outside: tuple[int, int, int]
) -> None:
    found = Counts.of([Model(seed=1, numbers=(one,))])
    assert (found.exact_outside, found.bounds_outside, found.stated_outside) == outside


def test_what_was_not_played_again_or_not_surely_is_not_outside() -> None:
    once = Number(subject="s", measure="latency", predicted=150, played=_SOME)
    again = Number(subject="s", measure="latency", predicted=150, played=_SURE, again=_SOME)
    assert not Counts.of([Model(seed=1, numbers=(once, again))]).exact_outside


def test_an_error_above_a_factor_of_two_counts_as_none() -> None:
    numbers = [
        _number(100, CertaintyKind.APPROXIMATION, error) for error in (0.1, 0.3, 1.0, 1.1, None)
    ]
    found = Counts.of([Model(seed=1, numbers=tuple(numbers)), Model(seed=2, refused="so")])
    assert (found.approximations, found.stating, found.median_error) == (5, 3, 0.3)
    assert (found.models, found.refused, found.stating_little) == (2, 1, 1)


def test_exact_labels_are_held_against_those_before() -> None:
    before = Model(seed=1, text="a", numbers=(_number(100), _number(130, subject="t")))
    now = Model(
        seed=1,
        text="a",
        numbers=(
            _number(100.1, CertaintyKind.APPROXIMATION, 0.1),
            _number(100, CertaintyKind.APPROXIMATION, subject="t"),
        ),
    )
    other = Model(seed=2, text="b", numbers=(_number(100),))
    found = Stored.of([before, other], [now, Model(seed=2, text="c", numbers=(_number(100),))])
    # Of two before one was wrong; another spec of the same seed tells nothing.
    assert (found.rightly, found.still) == (1, 0)
    assert len(found.changed) == 2


def _off(off: float, network: int, *methods: str) -> Off:
    return Off(off, network, frozenset(methods))


def test_methods_that_are_further_off_are_distinguished() -> None:
    near = [_off(0.04, network, "a") for network in range(200)]
    far = [_off(0.4, network, "a", "b") for network in range(100)]
    found = errors_of(near + far)
    assert found.methods == {"a", "b"}
    assert [(set(row.methods), row.error) for row in found.rows] == [({"b"}, 0.4), (set(), 0.05)]
    assert [(row.numbers, row.networks) for row in found.rows] == [(100, 100), (200, 200)]


def test_numbers_that_hardly_wait_are_distinguished() -> None:
    def off(share: float, network: int) -> Off:
        return Off(share / 2, network, frozenset("a"), {ErrorAxis.WAITING: share})

    few, many = [off(0.2, one) for one in range(100)], [off(0.8, one) for one in range(100, 200)]
    rows = errors_of(few + many).at_points
    assert [(row.at_most, row.error) for row in rows] == [
        ({ErrorAxis.WAITING: 0.2}, 0.1),
        ({}, 0.4),
    ]
    # What is less off the more is waited is no reason to state more where less is known.
    turned = [replace(one, off=0.5 - one.off) for one in few + many]
    assert [(row.at_most, row.error) for row in errors_of(turned).at_points] == [({}, 0.4)]


def test_an_error_is_that_of_19_in_20_and_too_few_state_none() -> None:
    def error(*off: float) -> float | None:
        numbers = (_off(one, network, "a") for network, one in enumerate(off))
        (row,) = errors_of(numbers).rows
        return row.error

    assert error(*[0.1] * 970, *[0.9] * 30) == 0.1
    assert error(*[0.1] * 940, *[0.9] * 60) == 1.0
    assert error(*[0.1] * 27) is None
    assert error(*[0.1] * 940, *[inf] * 60) is None


def _renewed(far: float, networks: int = 40) -> Errors:
    """Return a table of one row once networks have two numbers each, one of a method far off."""
    models = [
        Model(
            seed=seed,
            numbers=(
                replace(_number(105, CertaintyKind.APPROXIMATION), why=("common",)),
                replace(
                    _number(far, CertaintyKind.APPROXIMATION), subject="t", why=("common", "seldom")
                ),
            ),
        )
        for seed in range(networks)
    ]
    row = ErrorRow(methods=frozenset(), error=0.1, numbers=900, networks=900)
    known = Errors(methods=frozenset({"common", "other"}), rows=(row,), at_points=(row,))
    return renewed({ErrorQuantity.LATENCY: known}, models)[ErrorQuantity.LATENCY]


def test_a_method_whose_numbers_hold_too_seldom_has_a_row_of_its_own() -> None:
    found = _renewed(135)
    assert [(row.methods, row.error) for row in found.rows] == [
        (frozenset({"seldom"}), 0.4),
        (frozenset(), 0.1),
    ]
    assert found.methods == {"common", "other", "seldom"}


def test_a_method_whose_numbers_hold_keeps_the_rows_that_there_are() -> None:
    found = _renewed(108)
    assert [row.error for row in found.rows] == [0.1]
    assert "seldom" in found.methods


@pytest.mark.parametrize(
    ("far", "networks", "errors"),
    [
        (108, 40, [None, 0.1, 0.8]),
        # Too few tell nothing, and others are still as near as they were.
        (135, 27, [None, None, 0.1, None, 0.8]),
        (135, 40, [None, 0.4, 0.1, 0.8]),
    ],
)
def test_errors_of_one_method_are_raised_where_its_numbers_hold_too_seldom(
    far: float, networks: int, errors: list[float | None]
) -> None:
    """A row that states nothing still does, and none states less than before."""
    number = replace(_number(far, CertaintyKind.APPROXIMATION), why=("common", "seldom"))
    models = [Model(seed=seed, numbers=(number,)) for seed in range(networks)]
    limits = ((frozenset({"other"}), None), (frozenset[str](), 0.1), (frozenset({"no"}), 0.8))
    rows = tuple(
        ErrorRow(methods=methods, error=error, numbers=900, networks=900)
        for methods, error in limits
    )
    known = Errors(methods=frozenset({"common", "other", "seldom"}), rows=rows)
    found = of_method({ErrorQuantity.LATENCY: known}, models, "seldom")[ErrorQuantity.LATENCY]
    assert [row.error for row in found.rows] == errors
    assert found.row_of({"common"}) == known.row_of({"common"})
    assert found.row_of({"common", "other", "seldom"}) == known.row_of({"other"})


@pytest.mark.parametrize(
    ("far", "networks", "is_known"), [(108, 5, True), (108, 4, False), (135, 5, False)]
)
def test_a_rare_method_is_known_where_its_numbers_hold(
    far: float, networks: int, *, is_known: bool
) -> None:
    assert ("seldom" in _renewed(far, networks).methods) is is_known


def test_a_row_that_states_nothing_states_what_enough_networks_are_within() -> None:
    def error(networks: int) -> float | None:
        row = ErrorRow(methods=frozenset("a"), error=None, numbers=20, networks=20)
        known = Errors(methods=frozenset("a"), rows=(row,), at_points=())
        number = replace(_number(135, CertaintyKind.APPROXIMATION), why=("a",))
        models = [Model(seed=seed, numbers=(number,)) for seed in range(networks)]
        (found,) = renewed({ErrorQuantity.LATENCY: known}, models)[ErrorQuantity.LATENCY].rows
        return found.error

    assert error(27) is None
    assert error(28) == 0.4


@pytest.mark.parametrize(
    ("predicted", "networks", "is_apart"), [(108, 10, False), (108, 9, True), (135, 10, True)]
)
def test_a_row_that_states_nothing_is_left_out_once_its_numbers_hold_by_the_others(
    predicted: float, networks: int, *, is_apart: bool
) -> None:
    apart = ErrorRow(methods=frozenset("a"), error=None, numbers=20, networks=20)
    others = ErrorRow(methods=frozenset(), error=0.1, numbers=900, networks=900)
    known = Errors(methods=frozenset("a"), rows=(apart, others), at_points=())
    number = replace(_number(predicted, CertaintyKind.APPROXIMATION), why=("a",))
    models = [Model(seed=seed, numbers=(number,)) for seed in range(networks)]
    found = renewed({ErrorQuantity.LATENCY: known}, models)[ErrorQuantity.LATENCY]
    assert (apart in found.rows) is is_apart


def _shares(off: float, waiting: float, seeds: range) -> list[Model]:
    """Return models with one share of a latency each, predicted as 10 %."""
    one = replace(
        _number(0.1, CertaintyKind.APPROXIMATION),
        measure="latency > 3 s",
        played=Play(0.1 / (1 + off), 0.0001, 20, 10_000),
        again=None,
        point={ErrorAxis.WAITING: waiting, ErrorAxis.UTILIZATION: 0.5},
    )
    return [Model(seed=seed, numbers=(one,)) for seed in seeds]


def _renewed_shares(models: list[Model], error: float | None) -> list[tuple[object, object]]:
    row = ErrorRow(methods=frozenset(), error=error, numbers=900, networks=900)
    known = Errors(methods=frozenset({"so"}), rows=(row,), at_points=(row,))
    of = ErrorQuantity.SHARE_BEYOND
    return [(row.error, row.at_most) for row in renewed({of: known}, models)[of].at_points]


def test_a_row_is_made_finer_where_numbers_are_off_by_less() -> None:
    models = _shares(0.07, 0.15, range(40)) + _shares(0.7, 0.6, range(40, 80))
    # Less waiting, near; what is left keeps its row.
    assert _renewed_shares(models, 0.8) == [(0.1, {ErrorAxis.WAITING: 0.2}), (0.8, {})]
    assert _renewed_shares(models[13:], 0.8) == [(0.8, {})]
    # What is left does not hold by the row without those that do.
    most = _shares(0.07, 0.15, range(150)) + _shares(1.5, 0.6, range(150, 155))
    assert _renewed_shares(most, 0.8) == [(0.8, {})]
    # Of a row that states nothing, those that hold do.
    assert _renewed_shares(most + _shares(3, 0.9, range(200, 230)), None) == [
        (0.1, {ErrorAxis.WAITING: 0.2}),
        (None, {}),
    ]


def test_streams_that_call_rarely_have_rows_of_their_own() -> None:
    plain = [_off(0.04, network, "a") for network in range(100)]
    rare = [replace(_off(0.4, network, "a"), calls_rarely=True) for network in range(100, 128)]
    found = errors_of(plain + rare)
    assert [row.error for row in found.rows] == [0.05]
    assert [row.error for row in found.rare_calls] == [0.4]
    assert not errors_of(plain + rare[1:]).rare_calls


def test_renewal_keeps_rows_of_streams_that_call_rarely_while_their_numbers_hold() -> None:
    def model(seed: int, predicted: float) -> Model:
        number = _number(predicted, CertaintyKind.APPROXIMATION)
        rare = replace(number, measure="p95", calls_rarely=True, point={ErrorAxis.UTILIZATION: 0.5})
        return Model(seed=seed, numbers=(rare,))

    def rows(models: list[Model], before: dict[ErrorQuantity, Errors]) -> list[float | None]:
        return [row.error for row in renewed(before, models)[ErrorQuantity.QUANTILE].rare_calls]

    near, far = [model(seed, 130) for seed in range(40)], [model(seed, 190) for seed in range(40)]
    before = table_of([model(seed, 155) for seed in range(40)])
    assert [row.error for row in before[ErrorQuantity.QUANTILE].rare_calls] == [0.6]
    assert rows(near, before) == [0.6]
    assert rows(far, before) == [1.0]


def test_small_shares_are_distinguished() -> None:
    def model(seed: int, share: float, predicted: float) -> Model:
        number = _number(predicted, CertaintyKind.APPROXIMATION)
        play = Play(share, share / 1000, 20, 1000)
        point = {ErrorAxis.UTILIZATION: 0.5}
        of_share = replace(number, measure="latency > 1 s", played=play, again=None, point=point)
        return Model(seed=seed, numbers=(of_share,))

    models = [model(seed, 0.4, 0.42) for seed in range(60)]
    models += [model(seed, 0.01, 0.015) for seed in range(60, 120)]
    rows = table_of(models)[ErrorQuantity.SHARE_BEYOND].at_points
    assert [(row.at_most, row.error) for row in rows] == [({ErrorAxis.RARITY: 4}, 0.1), ({}, 0.5)]


def test_what_is_held_of_a_pool_is_no_utilization() -> None:
    load = replace(_number(120, CertaintyKind.APPROXIMATION), measure="load", subject="a.cpu")
    pool = replace(load, subject="a.threads")
    assert (load.quantity, pool.quantity) == ("load", "pool")


def test_of_numbers_of_one_network_together_its_size_does_not_count() -> None:
    (row,) = errors_of(_off(0.1, at % 27, "a") for at in range(2700)).rows
    assert row.error is None


def test_what_chance_does_to_a_play_is_no_error() -> None:
    number = _number(108, CertaintyKind.APPROXIMATION)
    table = table_of([Model(seed=at, numbers=(number,)) for at in range(50)])
    (row,) = table[ErrorQuantity.LATENCY].rows
    assert (row.error, row.networks) == (0.1, 50)
    unsure = replace(number, again=Play(100.0, 5.0, 20, 10_000))
    table = table_of([Model(seed=at, numbers=(unsure,)) for at in range(50)])
    assert table[ErrorQuantity.LATENCY].rows[0].error == 0.1


def test_labels_of_today_are_held_against_what_was_played_before() -> None:
    before = Model(seed=1, text="a", numbers=(_number(100), _number(90, subject="t")))
    label = Number(subject="s", measure="latency", predicted=120, kind=CertaintyKind.UPPER_BOUND)
    now = Model(seed=1, text="a", numbers=(label,)).with_plays_of(before)
    assert [(one.predicted, one.played, one.kind) for one in now.numbers] == [
        (120, _SURE, CertaintyKind.UPPER_BOUND)
    ]
    other = Model(seed=1, text="b", numbers=(label,))
    assert other.with_plays_of(before) is other


def test_what_was_refused_then_and_is_not_now_is_played(tmp_path: Path) -> None:
    plays, file = tmp_path / "plays.jsonl", tmp_path / "judged.jsonl"
    command = [sys.executable, "tests/simulated", "--first", "132353", "--models", "1"]
    command += ["--workers", "1", "--seconds", "0", "--plays", str(plays), "--keep", str(file)]
    text = sha256(spec_of(132353).encode()).hexdigest()[:12]
    plays.write_bytes(line_of(Model(seed=132353, text=text, refused="`a.cpu` is loaded to 1.2")))
    subprocess.run(command, capture_output=True, text=True, check=False)
    (model,) = retained(file)
    assert model.refused is None
    assert any(one.played is not None for one in model.numbers)
    # Nothing is played where only labels are asked for, nor again what was.
    file.unlink()
    subprocess.run([*command, "--labels"], capture_output=True, text=True, check=False)
    assert [one.refused for one in retained(file)] == ["`a.cpu` is loaded to 1.2"]
    file.unlink()
    was = [replace(one, played=_SOME, again=None) for one in model.numbers if one.last]
    plays.write_bytes(line_of(replace(model, numbers=tuple(was))))
    subprocess.run(command, capture_output=True, text=True, check=False)
    (numbers,) = [one.numbers for one in retained(file)]
    assert {one.played for one in numbers if " > " not in one.measure} == {_SOME}


def test_a_run_that_was_broken_off_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "judged.jsonl"
    model = Model(seed=3, kind="rows", numbers=(_number(100),))
    endless = Model(seed=4, numbers=(Number(subject="s", measure="latency", predicted=inf),))
    file.write_bytes(line_of(endless))
    ((read,),) = [one.numbers for one in retained(file)]
    assert read.value == inf
    file.write_bytes(line_of(model) + line_of(model)[:20])
    assert list(retained(file)) == [model]
    assert not list(retained(tmp_path / "none.jsonl"))


def test_the_report_states_the_counts(tmp_path: Path) -> None:
    file, data = tmp_path / "judged.jsonl", tmp_path / "errors.json"
    file.write_bytes(
        line_of(
            Model(
                seed=3, numbers=(_number(100), _number(140, CertaintyKind.APPROXIMATION, 0.2, "t"))
            )
        )
        + line_of(Model(seed=4, refused="`a.cpu` is loaded to 1.2"))
    )
    command = [sys.executable, "tests/simulated", "--report", "--keep", str(file)]
    command += ["--baseline", str(file), "--errors", str(data)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert done.stdout.endswith(
        "2 models, 2 comparisons\n"
        "faults: 0\n"
        "refused or unresolved: 1 (50.0%)\n"
        "exact: 1 (50.0%), 0 outside (family-wise 1%)\n"
        "bounds: 0, 0 on the wrong side\n"
        "approximations: 1, 100.0% state an error up to a factor of two\n"
        "stated errors: 1, 0.0% hold, 0.0% within two standard errors of the simulation\n"
        "median stated error: 20%, 100.0% are at most 25 %\n"
        "rightly exact before: 1, still exact: 1 (100.0%)\n"
    )
    assert "model 3: t.latency is told 140 (within 20%), played 100" in done.stdout
    assert json.loads(data.read_text())["latency"] == {
        "methods": [],
        "rows": [],
        "at_points": [],
        "rare_calls": [],
    }
