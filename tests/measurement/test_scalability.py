"""Stations fitted to closed load tests: the law, the fit, what a spec makes of it, bad tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from math import exp
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from scipy.optimize import least_squares

from qps.cli import main
from qps.compiler.check.model.fits.table_units import units_with
from qps.compiler.diagnostics import codes
from qps.compiler.measurement.measured_tables import DataError, read_table
from qps.compiler.measurement.scalability import closed_loop, scalability_fit
from qps.compiler.measurement.scalability.closed_loop import (
    NUMBERS,
    ClosedLoops,
    log_throughput,
)
from qps.compiler.measurement.scalability.closed_tables import ClosedTable, closed_table
from qps.compiler.measurement.scalability.levenberg_marquardt import least_point
from qps.compiler.measurement.scalability.misfit_causes import misfit_causes
from qps.compiler.measurement.scalability.model_uncertainty import (
    choice_covariance,
    choice_weights,
)
from qps.compiler.measurement.scalability.scalability_fit import station_fit, unseen_errors
from qps.compiler.measurement.scalability.scalability_law import ScalabilityLaw
from qps.compiler.measurement.scalability.station_fit import StationFit
from qps.compiler.measurement.scalability.throughput_peak import peak_of
from qps.compiler.pipeline import check_file
from qps.engine.distributions.gamma_numbers import gamma_law_quantile

SPEC = """users N in 1..64
machine db { cpu 1 core, queueing ps speeds fit "runs.csv" by threads }
component query { cpu fit "runs.csv" by threads measured on db; delay fit "runs.csv" by threads }
topology { node server = db }
stream queries for each user { traffic 1 request, think 0 s; at server { query } }
measure throughput = N * queries.rate
"""
DATABASE = ScalabilityLaw(demand=1e-3, delay=19e-3, parallel=1.5)

# N. J. Gunther, Guerrilla Capacity Planning, 2007, table 7.2: SPEC SDM91, simulated users and
# scripts per hour; the law was published with contention 2.8 % and coherency 0.0104 %.
SDM91 = {1: 64.9, 18: 995.9, 36: 1652.4, 72: 1853.2, 108: 1829.3, 144: 1775.0, 216: 1702.2}


def table_of(throughputs: dict[int, float]) -> ClosedTable:
    return ClosedTable(
        file="runs.csv",
        by="threads",
        item="request",
        lines=tuple(range(2, 2 + len(throughputs))),
        clients=tuple(throughputs),
        throughputs=tuple(throughputs.values()),
    )


def predicted(law: ScalabilityLaw, clients: Sequence[int]) -> dict[int, float]:
    found = log_throughput(law, np.array(clients))
    return dict(zip(clients, map(exp, found.tolist()), strict=True))


def by_balance(law: ScalabilityLaw, clients: int) -> Fraction:
    """Return the throughput of a birth-death chain of how many are at the station, in fractions."""
    weights = [Fraction(1)]
    for present in range(1, clients + 1):
        arrivals = (clients - present + 1) / Fraction(law.delay)
        weights.append(
            weights[-1] * arrivals / (Fraction(law.speed(present)) / Fraction(law.demand))
        )
    rates = [
        Fraction(0),
        *(Fraction(law.speed(j)) / Fraction(law.demand) for j in range(1, clients + 1)),
    ]
    return sum(w * r for w, r in zip(weights, rates, strict=True)) / sum(weights)


LAWS = st.builds(
    ScalabilityLaw,
    demand=st.floats(1e-4, 1.0),
    delay=st.floats(1e-3, 10.0),
    contention=st.floats(0.0, 1.0),
    coherency=st.floats(0.0, 0.1),
    parallel=st.none() | st.floats(1.0, 32.0),
)


@given(LAWS, st.integers(1, 40))
@settings(deadline=None)
def test_the_throughput_is_that_of_the_chain_of_its_states(
    law: ScalabilityLaw, clients: int
) -> None:
    found = predicted(law, [clients])[clients]
    assert found == pytest.approx(float(by_balance(law, clients)), rel=1e-9)


@pytest.mark.parametrize(
    "law",
    [
        ScalabilityLaw(demand=1e-3, parallel=8.0),
        ScalabilityLaw(demand=1e-3, delay=9e-3, parallel=4.0),
        ScalabilityLaw(demand=1e-3, contention=0.05, coherency=1e-3),
        ScalabilityLaw(demand=1e-3, contention=0.02, coherency=5e-4, parallel=16.0),
        ScalabilityLaw(demand=2e-3, delay=1e-3, contention=0.1),
    ],
    ids=["cores", "cores and delay", "published law", "collapse", "lock and delay"],
)
def test_a_law_is_found_again_in_what_it_predicts(law: ScalabilityLaw) -> None:
    clients = [1, 2, 4, 8, 12, 16, 24, 32, 64, 128]
    found = station_fit(table_of(predicted(law, clients)))
    between = [3, 6, 20, 48, 96]
    fitted, true = predicted(found.law, between), predicted(law, between)
    assert all(fitted[n] == pytest.approx(true[n], rel=0.02) for n in between)
    assert max(map(abs, found.errors)) < 0.02
    assert found.noise < 0.01  # what is exact in each row is not expected to be noisy


def test_the_published_law_is_near_its_published_numbers() -> None:
    found = station_fit(table_of(SDM91))
    law = ScalabilityLaw(demand=1 / 64.9, contention=0.0277, coherency=1.04e-4)
    published = predicted(law, list(SDM91))
    worst = max(abs(published[n] / measured - 1) for n, measured in SDM91.items())
    assert worst > 0.1  # as published, missed by this much at 36 users
    assert max(map(abs, found.errors)) < 0.02  # a limit of parallel service fits it


def test_a_fit_without_a_row_predicts_it() -> None:
    unseen = unseen_errors(station_fit(table_of(SDM91)))
    assert unseen is not None
    assert max(map(abs, unseen)) < 0.15
    assert unseen_errors(station_fit(table_of({1: 10.0, 2: 19.0}))) is None


def written(folder: Path, text: str = SPEC, clients: str = "") -> Path:
    runs = predicted(DATABASE, [1, 2, 4, 8, 16, 24, 32, 48, 64])
    rows = "".join(f"{count},{throughput:.4f}\n" for count, throughput in runs.items())
    (folder / "runs.csv").write_text(clients or f"threads,request/s\n{rows}")
    (folder / "db.qps").write_text(text)
    return folder / "db.qps"


def answered(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    assert main([*arguments, "--format", "json"]) in (0, 1)
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_a_spec_has_the_throughput_of_the_table_it_is_fitted_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = written(tmp_path)
    claims = "\nexpect fit {\n"
    for count, throughput in predicted(DATABASE, [1, 4, 16, 64]).items():
        claims += f"  throughput ~ {throughput:.3f} request/s within 1 % with N = {count}\n"
    spec.write_text(SPEC + claims + "}\n")
    assert main(["test", str(spec)]) == 0, capsys.readouterr().out


def test_its_numbers_are_uncertain_together(tmp_path: Path) -> None:
    checked = check_file(written(tmp_path))
    assert checked.value is not None
    names = {p.name for p in checked.value.model.parameters}
    assert names == {"query.cpu.request", "query.delay", "db.cpu.parallel", "db.cpu.coherency"}
    assert not checked.diagnostics


def test_what_the_table_shows_and_the_spec_leaves_out_is_warned_of(tmp_path: Path) -> None:
    def warned(text: str) -> list[str]:
        return [d.code.id for d in check_file(written(tmp_path, text)).diagnostics]

    fit = ' fit "runs.csv" by threads'
    assert warned(SPEC.replace(f"; delay{fit}", "")) == [codes.DELAY_DROPPED.id]
    assert warned(SPEC.replace(f" speeds{fit}", "")) == [codes.SPEEDS_DROPPED.id]
    assert warned(SPEC.replace(" measured on db", "")) == [codes.MISSING_PART.id]
    assert warned(SPEC.replace(f"speeds{fit}", 'speeds fit "runs.csv"')) == [codes.MISPLACED.id]
    assert codes.MISPLACED.id in warned(SPEC.replace(f"delay{fit}", f"keep{fit}"))
    assert codes.MISPLACED.id in warned(SPEC.replace("cpu 1 core,", f"cpu 1 core, idle{fit},"))
    assert warned(SPEC.replace("cpu 1 core,", "cpu 4 core,")) == [codes.MISPLACED.id]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("clients,request/s\n1,10\n2,20\n", "`runs.csv` has no column `threads`"),
        (
            "threads,request/s\n1,10\n2.5,20\n",
            "`2.5` in column `threads` is not a number of clients",
        ),
        ("threads,request/s\n1,10\n-2,20\n", "`-2` in column `threads` is not a number of clients"),
        (
            "threads,request/s\n1,10\n200000,20\n",
            "200,000 in column `threads`, more than the limit",
        ),
        ("threads,request/s\n1,10\n2,0\n", "line 3: 2 clients without throughput"),
        ("threads,request/s\n4,10\n4,11\n", "the same number in column `threads`"),
        ("threads,done\n1,10\n2,20\n", "`runs.csv` has no column with a throughput"),
        ("threads,request/s,query/s\n1,1,2\n2,2,4\n", "several columns with rates"),
        ("threads,request/s\n1,10\n2,x\n", "`x` in column `request/s` is not a number"),
    ],
)
def test_a_table_that_cannot_be_fitted_is_refused(
    table: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = written(tmp_path, clients=table)
    spec.write_text("unit query\n" + SPEC)
    found = [d.message for d in check_file(spec).diagnostics]
    assert any(message in one for one in found), found
    units = ["--unit", "query"]
    assert main(["fit", str(tmp_path / "runs.csv"), "--by", "threads", *units]) == 2
    assert message.replace("`runs.csv`", "") in capsys.readouterr().err.replace("\n", " ")


def test_idle_rows_and_byte_rates_do_not_disturb(tmp_path: Path) -> None:
    text = "threads,request/s,MB/s\n0,0,0\n1,100,1\n2,190,1.9\n4,330,3.3\n8,400,4\n16,405,4.05\n"
    checked = check_file(written(tmp_path, clients=text))
    assert checked.value is not None
    ((_, station), *_) = checked.value.model.stations
    assert station.table.clients == (1, 2, 4, 8, 16)


def test_the_command_prints_what_a_spec_takes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path)
    file = str(tmp_path / "runs.csv")
    found = answered(capsys, "fit", file, "--by", "threads")
    assert found["schema"] == "qps/scalability/1"
    assert found["peak_clients"] == 64
    assert 'queueing ps speeds fit "' in str(found["component"])
    assert main(["fit", file, "--by", "threads"]) == 0
    printed = capsys.readouterr().out
    assert "service demand" in printed
    assert "requests/s with 64 threads" in printed
    assert main(["fit", file, "--by", "threads", "--cores", "4"]) == 2
    assert "cannot be combined with `--by`" in capsys.readouterr().err


def read(text: str) -> StationFit:
    units = units_with([])
    return station_fit(closed_table(read_table(text, "runs.csv"), "threads", units))


def with_responses(law: ScalabilityLaw, clients: Sequence[int], *, think: float) -> str:
    """Return a table of clients who wait between requests, with response times in ms."""
    found = predicted(replace(law, delay=law.delay + think), clients)
    rows = (f"{n},{x:.6g},{(n / x - think) * 1e3:.6g}\n" for n, x in found.items())
    return "threads,request/s,latency in ms\n" + "".join(rows)


def test_think_time_is_what_littles_law_says_of_throughput_and_response_times() -> None:
    law = ScalabilityLaw(demand=2e-3, delay=1e-3, contention=0.05)
    found = read(with_responses(law, [1, 16, 64, 128, 256, 512], think=0.5))
    assert found.table.think == pytest.approx(0.5, rel=1e-3)
    assert found.law.demand + found.delay == pytest.approx(3e-3, rel=0.02)
    assert found.table.contradiction is None
    without = read(with_responses(law, [1, 2, 4, 8, 16], think=0.0))
    assert without.table.think == 0.0
    assert without.table.means is not None


def test_with_think_time_response_times_show_what_the_throughput_hides() -> None:
    text = with_responses(ScalabilityLaw(demand=2e-3, parallel=4.0), [1, 2, 4, 8, 16], think=1.0)
    alone = read("\n".join(row.rpartition(",")[0] for row in text.splitlines()))
    together = read(text)
    assert together.law.demand == pytest.approx(2e-3, rel=0.01)
    assert alone.law.demand > 0.1  # 1 s of think time is all that the throughput shows


def test_contradictory_response_times_are_not_used() -> None:
    text = "threads,request/s,latency in s\n1,98,10.2\n4,396,10.1\n16,812,19.7\n32,806,39.7\n"
    found = read(text)
    assert found.table.contradiction is not None
    assert found.table.contradiction.line == 5
    assert found.table.means is None
    assert found.law == read(text.replace("latency in s", "seconds")).law


def test_the_run_that_contradicts_is_the_farthest_from_the_think_time_of_all() -> None:
    law = ScalabilityLaw(demand=2e-3, parallel=8.0)
    *others, last = with_responses(law, [1, 4, 16, 64, 256, 512], think=0.5).splitlines()
    wrong = "\n".join([*others, f"{last.rpartition(',')[0]},200"])
    found = read(wrong).table.contradiction
    assert found is not None
    assert found.line == 7
    assert found.measured == pytest.approx(0.2)
    assert 0 < found.expected < 0.05  # not the whole cycle of 0.5 s


@pytest.mark.parametrize("start", [(0.1, 0.1), (3.0, 0.5), (0.5, 3.0)])
def test_least_squares_within_bounds_are_those_of_scipy(start: tuple[float, float]) -> None:
    """Of a curve whose second number lies on a bound."""
    at = np.linspace(0.1, 4, 30)
    measured = 2 * np.exp(-0.7 * at) + 0.05 * np.sin(7 * at)
    low, high = np.array([0.0, 0.0]), np.array([5.0, 0.6])

    def errors(point: np.ndarray) -> np.ndarray:
        return point[0] * np.exp(-point[1] * at) - measured

    def slopes(point: np.ndarray) -> np.ndarray:
        curve = np.exp(-point[1] * at)
        return np.stack([curve, -point[0] * at * curve], axis=1)

    own = least_point(lambda p: (errors(p), slopes(p)), np.array(start), low, high, 1e-9)
    other = least_squares(errors, np.clip(start, low, high), slopes, (low, high))
    assert own.point == pytest.approx(other.x, rel=1e-3)
    assert own.squares == pytest.approx(2 * other.cost, rel=1e-4)


@pytest.mark.parametrize(
    ("heading", "units", "item"),
    [("tps", [], "request"), ("TPS", ["transaction"], "transaction"), ("rps", [], "request")],
)
def test_a_throughput_may_be_headed_by_its_abbreviation(
    heading: str, units: list[str], item: str
) -> None:
    text = with_responses(ScalabilityLaw(demand=2e-3, parallel=8.0), [1, 4, 16, 64], think=0.0)
    short = read_table(text.replace("request/s", heading), "runs.csv")
    found = station_fit(closed_table(short, "threads", units_with(units)))
    assert found.table.item == item
    assert found.law == read(text).law


def test_a_column_of_clients_may_have_another_case() -> None:
    text = with_responses(ScalabilityLaw(demand=2e-3, parallel=8.0), [1, 4, 16, 64], think=0.0)
    titled = text.replace("threads", "Threads").replace("request/s", "QPS avg")
    found = station_fit(closed_table(read_table(titled, "runs.csv"), "threads", units_with([])))
    assert found.law == read(text).law
    with pytest.raises(DataError) as error:
        closed_table(read_table(titled, "runs.csv"), "clients", units_with([]))
    assert "its columns are `Threads`, `QPS avg`" in error.value.hint


def test_busy_cores_of_few_clients_say_less_of_many() -> None:
    """The throughput of busy cores may be another one with sixteen times the clients."""
    text = "clients,request/s,cpu in core,cores\n1,1500,0.75,1\n2,1960,0.98,1\n"
    found = station_fit(closed_table(read_table(text, "runs.csv"), "clients", units_with([])))
    at = found.numbers.index("parallel")
    off = float(np.linalg.norm(found.weights[at])) / found.value_of("parallel")
    assert off > 0.05


@pytest.mark.parametrize("variation", [0.3, 1.0, 2.0])
def test_percentiles_show_how_much_service_times_vary(variation: float) -> None:
    law = ScalabilityLaw(demand=4e-3, parallel=8.0)
    rows = []
    for count, throughput in predicted(law, [1, 4, 8, 16, 64]).items():
        mean = count / throughput * 1e3
        tails = [mean * gamma_law_quantile(variation**2, share) for share in (0.95, 0.99)]
        rows.append(f"{count},{throughput},{mean},{tails[0]},{tails[1]}\n")
    heading = 'threads,request/s,"latency mean, ms","latency p95, ms",p99 in ms\n'
    found = read(heading + "".join(rows))
    assert found.variation == pytest.approx(variation, rel=0.02)
    from_many = read(heading + "".join(rows[2:]).replace("8,", "9,", 1))
    assert found.table.percentiles
    assert from_many.variation is None or from_many.variation != found.variation


def test_processor_time_separates_the_demand_from_the_delay() -> None:
    law = ScalabilityLaw(demand=2e-3, delay=8e-3, parallel=4.0)
    found = predicted(law, [1, 2, 4, 8, 16, 32, 64])
    rows = "".join(f"{n},{x:.6g},{x * 2e-3 / 8 * 100:.6g},8\n" for n, x in found.items())
    fitted = read("threads,request/s,cpu in %,cores\n" + rows)
    assert len(fitted.table.demands) == 4  # those far from the peak
    assert fitted.law.demand == pytest.approx(2e-3, rel=0.02)
    assert fitted.delay == pytest.approx(8e-3, rel=0.05)
    assert not fitted.is_cpu_contradicted
    disk = "".join(f"{n},{x:.6g},{x * 1e-4:.6g}\n" for n, x in found.items())
    of_another = read("threads,request/s,cpu in core\n" + disk)
    assert of_another.is_cpu_contradicted
    assert max(map(abs, of_another.errors)) < 0.02


def test_busy_cores_of_a_known_number_show_the_largest_throughput() -> None:
    """Three runs, and up to 43 times their clients: by the utilization law, not by their bend."""
    law = ScalabilityLaw(demand=2e-3, delay=1e-3, parallel=8.0)
    truth = predicted(law, (2, 6, 9, 64, 384))
    random = Random(3)
    rows = []
    for count in (2, 6, 9):
        rate = truth[count] * random.gauss(1, 0.02)
        rows.append(f"{count},{rate},{rate * law.demand}")
    without = read("\n".join(["threads,request/s,cpu in core", *rows]))
    found = read("\n".join(["threads,request/s,cpu in core,cores", *(f"{r},8" for r in rows)]))
    assert without.table.limit is None
    assert found.table.limit is not None
    assert found.table.limit.throughput == pytest.approx(8 / law.demand, rel=0.05)
    assert len(found.errors) == len(rows)
    later = predicted(found.law, (64, 384))
    assert later == pytest.approx({count: truth[count] for count in (64, 384)}, rel=0.05)


def test_cores_do_not_count_where_something_else_limits() -> None:
    """A single thread serves 1,000 requests/s, for which one of two cores is busy."""
    law = ScalabilityLaw(demand=1e-3, delay=1e-3, parallel=1.0)
    rows = [f"{n},{x},{x * 1.01e-3},2" for n, x in predicted(law, (1, 2, 4, 8, 16, 32)).items()]
    found = read("\n".join(["threads,request/s,cpu in core,cores", *rows]))
    assert found.table.limit is not None
    assert found.table.limit.throughput > 1900
    (most,) = predicted(found.law, (500,)).values()
    assert most == pytest.approx(1000, rel=0.03)


def test_hardware_threads_are_a_bonus_beyond_the_cores() -> None:
    law = ScalabilityLaw(demand=1e-3, parallel=8.0, bonus=0.3)
    clients = [1, 2, 4, 6, 8, 10, 12, 14, 16, 24, 32]
    found = station_fit(table_of(predicted(law, clients)))
    assert found.law.parallel == pytest.approx(8.0, rel=0.02)
    assert found.law.bonus == pytest.approx(0.3, rel=0.05)


def test_a_column_that_looks_like_a_response_time_is_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "threads,request/s,avg\n1,100,10\n2,190,10.5\n4,330,12.1\n8,400,20\n16,405,39.5\n"
    checked = check_file(written(tmp_path, clients=text))
    messages = [d.message for d in checked.diagnostics if d.code is codes.UNUSED_RATE]
    assert messages == ["column `avg` of `runs.csv` looks like a response time and is not used"]
    assert main(["fit", str(tmp_path / "runs.csv"), "--by", "threads"]) == 0
    assert "looks like a response time" in capsys.readouterr().out.replace("\n    ", " ")


def test_more_requests_at_once_than_at_the_peak_are_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = "threads,request/s\n1,98\n4,340\n16,812\n32,806\n64,590\n"
    spec = written(tmp_path, SPEC + "require { queries.latency <= 80 ms }\n", table)
    main(["solve", str(spec), "--no-advice", "--samples", "1000"])
    assert codes.PAST_PEAK.id in capsys.readouterr().out
    spec.write_text(spec.read_text().replace("80 ms", "20 ms"))
    main(["solve", str(spec), "--no-advice", "--samples", "1000"])
    assert codes.PAST_PEAK.id not in capsys.readouterr().out


@pytest.mark.parametrize("cell", ["0", "x", "-1"])
def test_a_response_time_that_cannot_be_is_refused(cell: str, tmp_path: Path) -> None:
    text = f"threads,request/s,p99 in ms\n1,100,10\n2,190,{cell}\n4,330,9\n"
    found = [d.message for d in check_file(written(tmp_path, clients=text)).diagnostics]
    assert any("line 3" in one for one in found), found


@given(LAWS, st.sampled_from([0.0, 0.2]))
@settings(deadline=None)
def test_slopes_are_those_of_the_throughput(law: ScalabilityLaw, bonus: float) -> None:
    law = replace(law, bonus=bonus if law.parallel else 0.0)
    loops = ClosedLoops(np.array([1, 2, 5, 17, 33]))
    slopes = loops.throughputs(law)[1]
    for at, name in enumerate(NUMBERS):
        value = getattr(law, name)
        is_kink = name == "parallel" and value and abs(2 * value - round(2 * value)) < 1e-3
        if value and not is_kink:
            up, down = (
                loops.throughputs(replace(law, **{name: value * exp(h)}))[0] for h in (1e-6, -1e-6)
            )
            assert slopes[:, at] == pytest.approx((up - down) / 2e-6, abs=1e-5)


@pytest.mark.parametrize("clients", [[1500], [30, 1200, 6000]])
def test_of_many_clients_only_those_that_may_be_there_are_summed(
    clients: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    law = ScalabilityLaw(demand=1e-3, delay=0.5, contention=2e-3, coherency=1e-6, parallel=40.0)
    found, slopes = ClosedLoops(np.array(clients)).throughputs(law)
    monkeypatch.setattr(closed_loop, "_MOST_POINTS", 10**6)
    every, of_every = ClosedLoops(np.array(clients)).throughputs(law)
    assert found == pytest.approx(every, abs=1e-9)
    assert slopes == pytest.approx(of_every, abs=1e-9)


def test_a_table_of_thousands_of_clients_is_fitted() -> None:
    law = ScalabilityLaw(demand=2e-4, delay=0.05, contention=1e-3)
    clients = [1, 100, 1000, 3000, 6144]
    found = station_fit(table_of(predicted(law, clients)))
    assert predicted(found.law, [2000])[2000] == pytest.approx(
        predicted(law, [2000])[2000], rel=0.1
    )
    assert peak_of(found).clients > 3000


def test_later_speeds_that_a_spec_does_not_list_are_warned_of(tmp_path: Path) -> None:
    law = ScalabilityLaw(demand=1e-3, contention=1e-3, coherency=1e-6)
    rows = predicted(law, [1, 50, 400, 1000, 2000, 4000])
    table = "threads,request/s\n" + "".join(f"{n},{x:.6g}\n" for n, x in rows.items())
    found = check_file(written(tmp_path, clients=table))
    assert codes.BEYOND_MEASURED in [d.code for d in found.diagnostics]
    assert found.value is not None


@pytest.mark.parametrize(
    ("throughputs", "cause"),
    [
        ({1: 100, 2: 90, 4: 500, 8: 1100, 16: 1200}, "superlinear"),
        ({10: 7400, 50: 12600, 100: 12200, 150: 12210}, "only_unsaturated"),
        ({100: 186, 200: 187, 300: 245, 400: 264, 500: 208}, "unlike_neighbors"),
        ({1: 32, 2: 55, 4: 90.3, 8: 100, 16: 104, 32: 105}, "knee"),
        ({1: 10, 2: 19.5, 4: 37, 8: 66, 64: 30}, "only_saturated"),
        (
            {900 * i: 779 + 9.5 * i for i in range(1, 14)},
            "other_shape",
        ),
    ],
)
def test_what_only_one_row_shows_is_named(throughputs: dict[int, float], cause: str) -> None:
    found = station_fit(table_of(throughputs))
    causes = [one.cause for one in misfit_causes(found, unseen_errors(found))]
    assert cause in causes


def test_nothing_is_named_where_each_row_is_as_the_others_say() -> None:
    law = ScalabilityLaw(demand=1e-3, contention=0.05)
    found = station_fit(table_of(predicted(law, [1, 2, 3, 4, 6, 8, 12, 16, 24, 32])))
    assert not list(misfit_causes(found, unseen_errors(found)))


def width_at(found: StationFit, clients: int) -> float:
    """Return by how much the logarithm of a throughput may be off: a standard deviation."""

    def logged(**moved: float) -> float:
        law = {name: getattr(found.law, name) for name in found.law.__struct_fields__}
        return float(log_throughput(ScalabilityLaw(**{**law, **moved}), np.array([clients]))[0])

    slopes = []
    for name in found.numbers:
        step = 0.1 * float(np.linalg.norm(found.weights_of(name)))
        own = logged(**{name: found.value_of(name) + step})
        slopes.append((own - logged()) / step if step else 0.0)
    return float(np.linalg.norm(np.array(found.weights).T @ slopes))


def test_what_other_numbers_say_below_the_table_is_in_its_intervals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Contention and a limit fit all of these rows, and differ at the clients before them."""
    table = table_of({50: 588.0, 100: 883.0, 200: 953.0, 500: 1031.0, 1000: 939.0})
    found = station_fit(table)
    monkeypatch.setattr(scalability_fit, "choice_covariance", lambda *_: 0.0)
    alone = station_fit(table)
    assert found.numbers == alone.numbers
    assert width_at(found, 10) > 1.3 * width_at(alone, 10)
    assert width_at(found, 200) < 1.3 * width_at(alone, 200)  # which all of them show


def test_choices_that_agree_widen_nothing() -> None:
    slopes, precision = np.ones((4, 1)), np.zeros((1, 1))
    alike = choice_covariance(slopes, np.zeros((2, 4)), choice_weights([1.0, 1.0]), precision)
    apart = choice_covariance(
        slopes, np.array([[0.0] * 4, [2.0] * 4]), choice_weights([1.0, 1.0]), precision
    )
    assert alike.tolist() == [[0.0]]
    assert apart[0, 0] == pytest.approx(2.0)  # half of two squared
