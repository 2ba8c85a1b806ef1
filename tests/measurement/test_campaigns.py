"""What measuring reckons: accounts, settings, counts and order; no clock is asked."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.campaign_runs import RATE, SIZE, UNITS, run_of
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
from qps.compiler.measurement.campaigns.preflight_checks import heaviest
from qps.compiler.measurement.campaigns.process_table import Process
from qps.compiler.measurement.campaigns.processor_accounts import (
    Balance,
    MeasuringError,
    ProcessAccount,
    used_between,
)
from qps.compiler.measurement.campaigns.run_records import write_whole
from qps.compiler.measurement.campaigns.run_results import MeasuredRun


def process(pid: int, parent: int, used: float, reaped: float = 0.0) -> Process:
    return Process(
        pid=pid, parent=parent, session=1, name="x", started_at=7, used=used, reaped=reaped
    )


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
