"""What measuring reckons: accounts, settings, counts, order, rows, doubts; no clock is asked."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qps.cli import main
from qps.compiler.check.model.fits.table_units import units_with
from qps.compiler.measurement.campaigns.campaign import CampaignRecords, left, turns
from qps.compiler.measurement.campaigns.campaign_axes import (
    IDLE,
    Setting,
    axis,
    filled,
    settings_of,
)
from qps.compiler.measurement.campaigns.item_counts import count_of, counted
from qps.compiler.measurement.campaigns.measured_rows import TableLayout, rows_of, table_text
from qps.compiler.measurement.campaigns.preflight_checks import heaviest
from qps.compiler.measurement.campaigns.process_table import Process
from qps.compiler.measurement.campaigns.processor_accounts import (
    Balance,
    MeasuringError,
    ProcessAccount,
    used_between,
)
from qps.compiler.measurement.campaigns.row_doubts import doubts
from qps.compiler.measurement.campaigns.run_records import write_whole
from qps.compiler.measurement.campaigns.run_results import MeasuredRun
from qps.compiler.measurement.campaigns.step_runs import StepCosts, StepRun, step_of
from qps.compiler.measurement.fit_columns import FitColumns
from qps.compiler.measurement.fits import fitted
from qps.compiler.measurement.measured_tables import read_table

UNITS = units_with([])
RATE = axis("rate in 100, 200, 400 request/s", UNITS)
SIZE = axis("size in 1, 10 kB/request", UNITS)
LAYOUT = TableLayout(axes=(RATE, SIZE), items=("request",), cores=2.0, machine_cores=4)


def process(pid: int, parent: int, used: float, reaped: float = 0.0) -> Process:
    return Process(
        pid=pid, parent=parent, session=1, name="x", started_at=7, used=used, reaped=reaped
    )


def run_of(setting: Setting, repetition: int = 1, **changes: object) -> MeasuredRun:
    rate = float(setting[0]) if setting else 0.0
    distinct: dict[str, object] = {
        "setting": setting,
        "repetition": repetition,
        "started": "",
        "elapsed": 5.0,
        "used": {"cpu": 5.0 * rate * 1e-3},
        "counted": {"request": 5.0 * rate},
        "counted_over": 5.0,
        "packets": int(10 * rate),
        "octets": 0,
        "generator": 0.5,
        "others": 0.0,
        "stolen": 0.0,
        "busiest": 0.0,
        "generator_busiest": 0.1,
    }
    return MeasuredRun(**(distinct | changes))  # type: ignore[arg-type]


# Accounts


def balance(*processes: Process) -> Balance:
    account = ProcessAccount(lambda there: frozenset([1]) & there.keys(), "web")
    return account.balance({one.pid: one for one in processes})


def test_children_count_also_those_that_have_ended() -> None:
    before = balance(process(1, 0, 5.0), process(2, 1, 3.0), process(9, 0, 100.0))
    # Process 2 has ended after another second, process 3 came and went, process 4 came.
    after = balance(process(1, 0, 5.5, reaped=4.0 + 2.0), process(4, 1, 0.25))
    assert used_between(before, after, "web") == pytest.approx(0.5 + 1.0 + 2.0 + 0.25)


@given(st.lists(st.tuples(st.sampled_from("fwwe"), st.integers(0, 9)), max_size=60))
def test_accounts_lose_nothing_that_is_reaped(events: list[tuple[str, int]]) -> None:
    # What happens: a process forks, works for a while, or ends and is reaped by its parent.
    used, reaped, parents = {1: 0.0}, {1: 0.0}, {1: 0}
    worked, before = 0.0, None
    for number, (event, which) in enumerate(events):
        if number == len(events) // 2:
            before, worked = tree(used, reaped, parents), 0.0
        pid = sorted(used)[which % len(used)]
        if event == "f":
            new = max(parents) + 1
            used[new], reaped[new], parents[new] = 0.0, 0.0, pid
        elif event == "w":
            used[pid] += which / 8
            worked += which / 8
        elif pid != 1 and pid not in [parents[one] for one in used]:
            reaped[parents[pid]] += used.pop(pid) + reaped.pop(pid)
    if before is not None:
        after = tree(used, reaped, parents)
        assert used_between(before, after, "web") == pytest.approx(worked)


def tree(used: dict[int, float], reaped: dict[int, float], parents: dict[int, int]) -> Balance:
    return balance(*(process(pid, parents[pid], used[pid], reaped[pid]) for pid in used))


def test_what_nobody_knows_of_an_ended_child_is_reported() -> None:
    before = balance(process(1, 0, 5.0), process(2, 1, 3.0))
    with pytest.raises(MeasuringError, match="process 2 of `web` has ended"):
        used_between(before, balance(process(1, 0, 9.0)), "web")


def test_a_later_process_with_the_same_id_is_another_one() -> None:
    before = balance(process(1, 0, 0.0), process(2, 1, 3.0))
    reused = Process(pid=2, parent=1, session=1, name="x", started_at=8, used=1.0, reaped=0.0)
    after = balance(process(1, 0, 0.0, reaped=3.5), reused)
    assert used_between(before, after, "web") == pytest.approx(1.5)


def test_an_account_of_nobody_and_a_clock_that_goes_backwards_are_reported() -> None:
    with pytest.raises(MeasuringError, match="`web` has ended"):
        balance(process(2, 1, 3.0))
    with pytest.raises(MeasuringError, match="decreased by 2 s"):
        used_between(balance(process(1, 0, 3.0)), balance(process(1, 0, 1.0)), "web")


# Settings


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rate", "needs a name and values"),
        ("rate in", "needs a name and values"),
        ("rate in 1, 2 pakket/s", "`pakket/s` in"),
        ("rate in 1,, 2", "is empty"),
        ("rate in 1, 1", "twice"),
        ("rate in one, 2 request/s", "`one` has its own unit before `request/s`"),
        ("rate in 0, 2 request/s", "not above zero"),
        ("seconds in 1, 2", "`--seconds`"),
    ],
)
def test_what_varies_nothing_is_reported(text: str, expected: str) -> None:
    with pytest.raises(MeasuringError, match=expected):
        axis(text, UNITS)


def test_values_have_units_or_are_words() -> None:
    assert RATE.item == "request"
    assert [RATE.value(text) for text in RATE.values] == [100, 200, 400]
    assert (SIZE.item, SIZE.sized, SIZE.value("10")) == (None, "request", 80_000)
    words = axis("sendfile in on, off", UNITS)
    assert (words.values, words.value("on"), words.item) == (("on", "off"), None, None)
    assert axis("load in 1.5, 2 kpps", units_with(["kpps"])).values == ("1.5", "2")
    assert len(settings_of((RATE, SIZE, words))) == 12
    assert settings_of(()) == ((),)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("{rat}", "did you mean `rate`"),
        ("{rate/0}", "divides by zero"),
        ("{mode*2}", "needs a number, not `on`"),
        ("{rate/size*nothing}", "`nothing`"),
    ],
)
def test_places_that_cannot_be_filled_are_reported(word: str, expected: str) -> None:
    with pytest.raises(MeasuringError) as raised:
        filled([word], {"rate": "100", "size": "3", "mode": "on"})
    assert expected in f"{raised.value.message} {raised.value.hint}"


@given(st.integers(1, 10**6), st.integers(1, 1000))
def test_places_reckon_exactly(rate: int, clients: int) -> None:
    (shown,) = filled([f"{{rate/{clients}}}"], {"rate": str(rate)})
    assert abs(Fraction(shown) - Fraction(rate, clients)) <= Fraction(rate, clients) / 10**5
    assert filled(['{"a": 1} {} ${x:-1}'], {}) == ('{"a": 1} {} ${x:-1}',)


def test_the_heaviest_setting_has_the_highest_rate_and_the_largest_items() -> None:
    assert heaviest((IDLE, *settings_of((RATE, SIZE))), (RATE, SIZE)) == ("400", "10")


# Counts


def test_counts_are_found_by_their_patterns() -> None:
    counts = [count_of(r"requests: ([\d,]+)", "request"), count_of(r"byte=(\d+) B", "request")]
    found = counted(counts, "requests: 12,345 done\n678 B read", "it")
    assert found == {"request": 12345, "byte": 678}


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        (r"done (\d+)", "nothing like it", "is not found in it; it ends with `nothing like it`"),
        (r"done (\d+)", "", "it is empty"),
        (r"done (\d+)", "done 1\ndone 2", "found 2 times"),
        (r"done (\S+)", "done much", "finds `much`"),
        (r"done (\S+)", "done -1", "finds `-1`"),
    ],
)
def test_counts_that_cannot_be_found_are_reported(pattern: str, text: str, expected: str) -> None:
    with pytest.raises(MeasuringError, match=expected):
        counted([count_of(pattern, "request")], text, "it")


@pytest.mark.parametrize("pattern", [r"\d+", r"(\d+) (\d+)", r"(\d+", "request=x"])
def test_patterns_without_one_number_are_refused(pattern: str) -> None:
    with pytest.raises(MeasuringError):
        count_of(pattern, "request")


# Order, and what is kept


@given(st.integers(1, 6), st.integers(1, 4), st.integers(0, 99))
def test_every_round_has_every_setting_once(count: int, repeat: int, seed: int) -> None:
    settings = [(str(i),) for i in range(count)]
    order = turns(settings, repeat, seed)
    assert order == turns(settings, repeat, seed)
    for k in range(repeat):
        part = order[k * count : (k + 1) * count]
        assert sorted(setting for setting, _ in part) == settings
        assert {repetition for _, repetition in part} == {k + 1}


def test_orders_are_random() -> None:
    settings = [(str(i),) for i in range(6)]
    assert len({tuple(turns(settings, 1, seed)) for seed in range(20)}) > 10


@given(st.sets(st.integers(0, 11)), st.integers(0, 9))
def test_going_on_measures_what_is_missing(failing: set[int], seed: int) -> None:
    settings = settings_of((RATE, SIZE))
    order = turns(settings, 2, seed)
    wrong = {order[i] for i in failing}
    stored: list[tuple[int, int]] = []

    def measure(setting: Setting, repetition: int) -> MeasuredRun:
        if (setting, repetition) in wrong:
            raise MeasuringError("it fails")
        return run_of(setting, repetition)

    records = CampaignRecords(lambda runs, fails: stored.append((len(runs), len(fails))), [], [])
    records.measure(order, measure)
    assert stored[-1] == (len(records.runs), len(records.failures))
    wrong = set()
    records.stopped = None
    records.measure(left(order, records.runs), measure)
    assert sorted((run.setting, run.repetition) for run in records.runs) == sorted(order)
    assert (records.failures, records.stopped) == ([], None)


def test_three_failures_in_a_row_end_it_and_so_does_a_server_that_is_gone() -> None:
    def failing(_: Setting, __: int) -> MeasuredRun:
        raise MeasuringError("no connection", "start it")

    order = turns(settings_of((RATE,)), 3, 1)
    records = CampaignRecords(lambda *_: None, [], [])
    records.measure(order, failing)
    assert records.stopped is not None
    assert len(records.failures) == 3
    assert "no connection" in records.stopped.reason
    gone = CampaignRecords(lambda *_: None, [], [])
    gone.measure(order, failing, lambda: "the server has ended")
    assert (len(gone.failures), gone.stopped and gone.stopped.reason) == (1, "the server has ended")


def test_files_are_whole_or_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "runs.json"
    write_whole(path, b"first")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(MeasuringError, match="No space left on device"):
        write_whole(path, b"second")
    assert path.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [path]


# Rows


def table_of(runs: list[MeasuredRun], layout: TableLayout = LAYOUT) -> str:
    settings = (IDLE, *settings_of(layout.axes))
    return table_text(rows_of(runs, settings, layout), layout)


def grid(noise: float = 0.0, packets: bool = False) -> list[MeasuredRun]:
    """Runs of a server with 1 % fixed load, 20 us a request, 2 ns a byte, 5 us a packet."""
    chance = random.Random(5)
    runs = []
    for setting in (IDLE, *settings_of((RATE, SIZE))):
        for repetition in (1, 2, 3):
            rate = 10 * float(setting[0]) if setting else 0.0
            octets = rate * float(setting[1]) * 1000 if setting else 0.0
            carried = chance.choice([1, 8]) * rate if packets else 4.0 * rate
            busy = 0.02 + rate * 20e-6 + octets * 2e-9 + carried * 5e-6
            busy *= 1 + noise * chance.uniform(-1, 1)
            runs.append(
                run_of(
                    setting,
                    repetition,
                    used={"cpu": 5 * busy},
                    counted={"request": 5 * rate},
                    packets=int(5 * carried),
                )
            )
    return runs


def fit_of(text: str) -> dict[str, float]:
    reading = FitColumns(resource=None, cores=Fraction(2), processors=Fraction(2))
    found = fitted(read_table(text, "web.csv"), reading, UNITS)
    return {term.heading: float(term.value) for term in found.terms} | {"fixed": float(found.fixed)}


def test_a_table_is_what_fit_takes() -> None:
    found = fit_of(table_of(grid()))
    # Four packets go with each request: they have no column of their own.
    assert found == {
        "request/s": pytest.approx(40e-6, rel=1e-4),
        "byte/s": pytest.approx(2e-9 / 8, rel=1e-4),
        "fixed": pytest.approx(0.01, rel=1e-4),
    }


def test_a_spec_takes_a_table_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("web.csv").write_text(table_of(grid(noise=0.01)))
    Path("web.qps").write_text(
        """
        users N in 1..100000
        machine vm { cpu 2 core, idle fit "web.csv" }
        component serve { cpu fit "web.csv" measured on vm }
        topology { node n = vm }
        stream s { traffic N * 0.1 request/s, 1 kB/request; at n { serve } }
        """
    )
    assert main(["solve", "web.qps", "--no-advice", "--format", "json"]) == 0
    output = json.loads(capsys.readouterr().out)
    # A request of 1 kB takes 42 us of one of two cores; 1 % are always there.
    saturates = output["resources"][0]["saturates_at"]
    assert saturates == pytest.approx(0.99 * 2 / 42e-6 / 0.1, rel=0.03)


def test_packets_that_do_not_go_with_requests_have_a_column() -> None:
    runs = [one for one in grid(packets=True) if one.repetition == 1]
    found = fit_of(table_of(runs))
    assert found["packet/s"] == pytest.approx(5e-6, rel=1e-3)
    assert found["request/s"] == pytest.approx(20e-6, rel=1e-3)


def test_a_single_row_has_bytes_too() -> None:
    head = table_of([run_of(("200", "10"))]).splitlines()[0]
    assert head.startswith("cpu in %,request/s,byte/s,packets each,")


def test_a_row_is_the_median_of_its_runs() -> None:
    used = [{"cpu": seconds} for seconds in (0.4, 0.5, 5.0)]
    runs = [run_of(("100", "1"), i, used=one) for i, one in enumerate(used)]
    (row,) = rows_of(runs, settings_of((RATE, SIZE)), LAYOUT)
    assert row.loads == {"cpu": pytest.approx(0.05)}
    assert (row.repetitions, row.each) == (3, pytest.approx(0.001))
    assert row.spread == pytest.approx((5.0 - 0.4) / 0.5)
    assert row.rates == {"request": 100, "byte": 100_000, "packet": 200}
    assert row.generator == pytest.approx(0.025)


def test_a_table_reports_rows_of_interrupted_settings() -> None:
    lines = table_of([run_of(("200", "10"), 2)]).splitlines()
    assert len(lines) == 2
    cells = dict(zip(lines[0].split(","), lines[1].split(","), strict=True))
    assert (cells["requested rate"], cells["requested size"], cells["repetitions"]) == (
        "200",
        "10",
        "1",
    )


# Doubts

DOUBTFUL: list[tuple[str, dict[str, object], str]] = [
    ("rate not reached", {"counted": {"request": 200.0}}, "reached 40 of 100 request/s"),
    (
        "rate not reached",
        {"counted": {"request": 200.0}, "generator_busiest": 0.99},
        "the generator is the bottleneck: its busiest thread was busy 99 %",
    ),
    (
        "rate not reached",
        {"counted": {"request": 200.0}, "busiest": 0.95},
        "the server is saturated: its busiest thread was busy 95 %",
    ),
    (
        "rate not reached",
        {"counted": {"request": 200.0}, "others": 19.0},
        "server, generator and other programs together saturate the machine",
    ),
    (
        "rate not reached",
        {"counted": {"request": 200.0}, "others": 12.0},
        "other programs use 60 % of the machine",
    ),
    ("saturated", {"used": {"cpu": 9.5}}, "saturated (utilization 95 %)"),
    ("short", {"used": {"cpu": 0.1}}, "only 0.1 s of CPU time"),
    ("others", {"others": 5.0}, "other programs used 1.0 of 4 cores"),
    ("stolen", {"stolen": 2.0}, "took 10 % of the CPU time"),
    ("note", {"notes": ("the machine slept for 3.0 s",)}, "the machine slept for 3.0 s"),
    ("one thread", {"busiest": 0.1}, "`--cores 1`"),
]


def reported_of(runs: list[MeasuredRun], mtu: int | None = 1500) -> dict[str, str]:
    rows = rows_of(runs, (IDLE, *settings_of((RATE, SIZE))), LAYOUT)
    return {one.kind: one.text for one in doubts(rows, LAYOUT, is_here=True, loopback_mtu=mtu)}


def test_rows_without_fault_are_not_doubted() -> None:
    assert reported_of([run_of((rate, "1")) for rate in RATE.values]) == {}


@pytest.mark.parametrize(("kind", "changes", "text"), DOUBTFUL)
def test_doubtful_rows_are_reported(kind: str, changes: dict[str, object], text: str) -> None:
    result = reported_of([run_of(("100", "1"), **changes)])
    assert text in result[kind]


def test_repetitions_that_lie_apart_are_reported() -> None:
    runs = [run_of(("100", "1"), i, used={"cpu": 0.5 * (1 + 0.2 * i)}) for i in range(3)]
    assert "repetitions differ by up to 33 %" in reported_of(runs)["spread"]


def test_a_closed_loop_saturates_a_thread() -> None:
    words = axis("clients in 1, 8", UNITS)
    layout = TableLayout(axes=(words,), items=("request",), cores=2.0, machine_cores=4)
    run = run_of(("8",), busiest=0.97, used={"cpu": 4.9}, packets=None)
    rows = rows_of([run], settings_of((words,)), layout)
    by_name = {one.kind: one.text for one in doubts(rows, layout, is_here=True, loopback_mtu=None)}
    assert by_name["saturated"].startswith(
        "saturated (its busiest thread was busy 97 % of the time)"
    )


def test_figures_are_those_of_the_worst_row() -> None:
    runs = [run_of((r, "1"), counted={"request": 250.0}) for r in ("100", "200", "400")]
    assert reported_of(runs)["rate not reached"].startswith("reached 50 of 400 request/s")
    short = [run_of((r, "1"), used={"cpu": s}) for r, s in (("100", 0.01), ("200", 0.2))]
    assert reported_of(short)["short"].startswith("only 0.01 s")


def test_large_items_and_loopback_are_reported() -> None:
    large = axis("size in 1, 100 kB/request", UNITS)
    layout = TableLayout(axes=(RATE, large), items=("request",), cores=2.0, machine_cores=4)
    rows = rows_of([run_of(("100", "100"))], settings_of((RATE, large)), layout)
    distinct = {one.kind for one in doubts(rows, layout, is_here=True, loopback_mtu=65_536)}
    assert distinct == {"large items on one machine", "loopback"}
    assert doubts(rows, layout, is_here=False, loopback_mtu=65_536) == []


def test_low_rates_that_do_not_batch_are_reported() -> None:
    runs = [run_of((rate, "1"), used={"cpu": 2.0}) for rate in RATE.values]
    result = reported_of(runs)["batching"]
    assert "up to 4.0 times" in result
    assert "or because part of the work is constant" in result
    # What is always there is no batching: two seconds, and one request in 1 ms.
    idle = run_of(IDLE, used={"cpu": 2.0})
    fixed = [
        run_of((rate, "1"), used={"cpu": 2.0 + 5 * float(rate) * 1e-3}) for rate in RATE.values
    ]
    assert "batching" not in reported_of([idle, *fixed])


# Steps


def step_runs(noise: float, fewest: int = 100) -> list[StepRun]:
    chance = random.Random(3)
    found = []
    for items in (fewest, 1000, 10_000):
        for octets in (100, 1500):
            for _ in range(3):
                seconds = 0.05 + items * 10e-6 + items * octets * 3e-9
                found.append(
                    StepRun((), items, items * octets, seconds * (1 + noise * chance.gauss(0, 1)))
                )
    return found


def costs(step: StepCosts) -> dict[str, tuple[float, float | None]]:
    return {cost.item: (cost.seconds, cost.half_width) for cost in step.costs}


def test_a_step_is_taken_apart() -> None:
    found = costs(step_of(step_runs(0.0), "packet"))
    assert found["packet"][0] == pytest.approx(10e-6)
    assert found["byte"][0] == pytest.approx(3e-9)
    assert found["start-up"][0] == pytest.approx(0.05)


def test_intervals_of_a_step_are_those_of_least_squares() -> None:
    # The textbook's formula in plain arrays, for the weighted rows.
    import numpy as np
    from scipy import stats

    runs = step_runs(0.05)
    design = np.array([[run.items, run.octets, 1.0] for run in runs])
    seconds = np.array([run.seconds for run in runs])
    design = design / seconds[:, None]
    target = np.ones(len(runs))
    values, (square,), _, _ = np.linalg.lstsq(design, target, rcond=None)
    freedom = len(runs) - 3
    deviations = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * square / freedom)
    widths = deviations * stats.t.ppf(0.975, freedom)
    found = step_of(runs, "packet")
    assert [cost.seconds for cost in found.costs] == pytest.approx(list(values), rel=1e-6)
    assert [cost.half_width for cost in found.costs] == pytest.approx(list(widths), rel=1e-6)


def test_a_step_given_as_much_each_time_has_its_start_in_the_cost() -> None:
    found = costs(step_of([StepRun((), 100, 0, 0.2), StepRun((), 100, 0, 0.2)], "packet"))
    assert found == {"packet": (pytest.approx(0.002), pytest.approx(0, abs=1e-9))}


@pytest.mark.parametrize("run", [StepRun((), 0, 0, 1.0), StepRun((), 1, 0, 0.0)])
def test_a_step_without_results_is_reported(run: StepRun) -> None:
    with pytest.raises(MeasuringError):
        step_of([run], "packet")
