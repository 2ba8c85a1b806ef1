"""What response times, processor time and cores tell of a station besides its throughput."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from helpers.measured.closed_load_tests import (
    predicted,
    read,
    table_of,
    with_responses,
)
from qps.compiler.check.model.fits.table_units import units_with
from qps.compiler.measurement.measured_tables import DataError, read_table
from qps.compiler.measurement.scalability.closed_tables import closed_table
from qps.compiler.measurement.scalability.scalability_fit import station_fit
from qps.compiler.measurement.scalability.scalability_law import ScalabilityLaw
from qps.engine.distributions.gamma_numbers import gamma_law_quantile


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
