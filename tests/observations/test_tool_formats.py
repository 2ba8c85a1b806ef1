"""What the formats of tools have of their own: what is left out, refused, and asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from observations import result_writers as writers
from observations.drawn_requests import drawn
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.file_texts import FileReading
from qps.compiler.measurement.observations.observed_runs import ObservedRuns
from qps.compiler.measurement.observations.recognized_files import recognized_files

HISTOGRAM = """\
       Value     Percentile TotalCount 1/(1-Percentile)

       0.100 0.000000000000          1           1.00
       2.000 0.500000000000        500           2.00
       4.000 0.900000000000        900          10.00
       9.000 0.990000000000        990         100.00
      12.000 1.000000000000       1000
#[Mean    =        2.500, StdDeviation   =        2.036]
#[Max     =       12.000, Total count    =         1000]
#[Buckets =           22, SubBuckets     =         2048]
"""


def observed(tmp_path: Path, text: str, **how: object) -> ObservedRuns:
    file = tmp_path / "file"
    file.write_text(text, encoding="utf-8")
    return recognized_files([file], FileReading(**how))  # type: ignore[arg-type]


def row(found: ObservedRuns) -> dict[str, str]:
    [cells] = found.rows
    return dict(zip(found.headings, cells, strict=True))


def test_a_histogram_without_a_unit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not state the unit") as caught:
        observed(tmp_path, HISTOGRAM)
    assert "--column Value=ms" in caught.value.hint
    found = row(observed(tmp_path, HISTOGRAM, column=("Value=us",)))
    assert found["latency p50, ms"] == "0.002"
    assert found["latency p99, ms"] == "0.009"
    assert found["latency mean, ms"] == "0.0025"
    assert found["values"] == "1000"
    assert "latency p99.9, ms" in found
    assert "latency p99.99, ms" not in found, "no value lies beyond it"
    with pytest.raises(DataError, match="is not a unit"):
        observed(tmp_path, HISTOGRAM, column=("Value=parsecs",))


def test_the_unit_of_a_histogram_is_read_where_it_is_stated(tmp_path: Path) -> None:
    text = HISTOGRAM.replace("       Value", "Value(s)", 1)
    assert row(observed(tmp_path, text))["latency p50, ms"] == "2000"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Total count    =         1000", "Total count    =         1200", "number of values"),
        ("Mean    =        2.500", "Mean    =        25.00", "mean latency"),
    ],
)
def test_a_histogram_that_contradicts_itself_is_reported(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    found = observed(tmp_path, HISTOGRAM.replace(old, new), column=("Value=ms",))
    assert any(note.startswith("warning") and message in note for note in found.notes)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("       4.000", "       1.000", "line 5: values, percentiles and counts cannot fall"),
        ("       4.000 0.9000", "       four 0.9000", "line 5: `four 0.9"),
    ],
)
def test_a_damaged_histogram_is_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        observed(tmp_path, HISTOGRAM.replace(old, new), column=("Value=ms",))
    assert message in caught.value.message


def test_xml_with_entities_is_refused(tmp_path: Path) -> None:
    """None is expanded: ten lines of them would be a billion letters."""
    bomb = '<!DOCTYPE a [<!ENTITY a "b"><!ENTITY c "&a;&a;">]>\n'
    text = writers.jmeter_xml(drawn(1)).replace("<testResults", bomb + "<testResults", 1)
    file = tmp_path / "bomb.jtl"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match="line 2: results of JMeter have no document type"):
        recognized_files([file], FileReading(), "jmeter")


def test_xml_that_was_cut_off_is_read_up_to_its_last_sample(tmp_path: Path) -> None:
    whole = writers.jmeter_xml(drawn(1))
    lines = whole.splitlines(keepends=True)
    found = observed(tmp_path, "".join(lines[: len(lines) // 2]) + '<httpSample t="1')
    assert float(row(found)["request/s"]) > 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("</sample>", "</samples>", "mismatched tag"),
        (' ts="', ' tz="', "a sample without `ts` and `t`"),
        ("<sample ", "<a>" * 60 + "<sample ", "nested more than 50 deep"),
    ],
)
def test_damaged_xml_is_refused_with_its_line(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError) as caught:
        observed(tmp_path, writers.jmeter_xml(drawn(1)).replace(old, new, 1))
    assert message in caught.value.message
    assert "line " in caught.value.message


def test_nothing_of_an_address_is_copied(tmp_path: Path) -> None:
    for writer in (writers.fortio, writers.jmeter_xml):
        found = observed(tmp_path, writer(drawn(1)))
        assert "secret" not in found.as_csv() + "".join(found.notes)


def test_a_damaged_request_of_gatling_is_refused_but_for_the_last(tmp_path: Path) -> None:
    lines = writers.gatling_log(drawn(1)).splitlines(keepends=True)
    cut = [*lines[:-20], "REQUEST\t\tpage\t17954"]
    assert float(row(observed(tmp_path, "".join(cut)))["request/s"]) > 0
    with pytest.raises(DataError, match=f"line {len(cut)}: not a request of Gatling"):
        observed(tmp_path, "".join([*cut, "\n", *lines[-20:]]))


def test_reports_without_requests_are_refused(tmp_path: Path) -> None:
    for writer, count in ((writers.oha, "statusCodeDistribution"), (writers.fortio, "Count")):
        report = json.loads(writer(drawn(1)))
        if count in report:
            report[count] = {}
        else:
            report["DurationHistogram"][count] = 0
        with pytest.raises(DataError, match="contains no requests"):
            observed(tmp_path, json.dumps(report))


def test_the_health_check_of_fortio_has_statuses_of_its_own(tmp_path: Path) -> None:
    report = json.loads(writers.fortio(drawn(1)))
    count = report["DurationHistogram"]["Count"]
    for codes, failed in (({"1": count}, 0), ({"SERVING": count - 1, "2": 1}, 1 / count)):
        report |= {"RunType": "GRPC Ping", "RetCodes": codes}
        found = row(observed(tmp_path, json.dumps(report)))
        assert float(found["share failed"]) == pytest.approx(failed)


STATS = """\
CONTAINER ID   NAME    CPU %     MEM USAGE / LIMIT     MEM %     NET I/O         BLOCK I/O   PIDS
943a3096b745   web-1   10.00%    13.04MiB / 30.57GiB   0.04%     4.75kB / 126B   13.7MB / 0B   1
8b9f3a12e4c7   db 1    250.00%   13.04MiB / 30.57GiB   0.04%     4.75kB / 126B   13.7MB / 0B   1
943a3096b745   web-1   --        -- / --               --        --              --            --
943a3096b745   web-1   30.00%    13.04MiB / 30.57GiB   0.04%     4.75kB / 126B   13.7MB / 0B   1
"""


def test_one_of_several_containers_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="several containers: `db 1` and `web-1`") as caught:
        observed(tmp_path, STATS)
    assert "--process" in caught.value.hint
    assert row(observed(tmp_path, STATS, process="web-1"))["cpu in core"] == "0.2"
    assert row(observed(tmp_path, STATS, process="db 1"))["cpu in core"] == "2.5"
    with pytest.raises(DataError, match="no container `web`") as caught:
        observed(tmp_path, STATS, process="web")
    assert "web-1" in caught.value.hint
    with pytest.raises(DataError, match="line 2: `ten`"):
        observed(tmp_path, STATS.replace("10.00%", "ten   "), process="web-1")


def prometheus(*series: tuple[dict[str, str], list[tuple[float, str]]]) -> str:
    found = [{"metric": metric, "values": values} for metric, values in series]
    data = {"resultType": "matrix", "result": found}
    return json.dumps({"status": "success", "data": data})


def test_series_are_columns_and_times_rows(tmp_path: Path) -> None:
    text = prometheus(
        ({"__name__": "rps", "pod": "a"}, [(1000, "10"), (1015.5, "NaN")]),
        ({"__name__": "cpu", "pod": "b", "job": "x"}, [(1015.5, "0.5")]),
        ({"__name__": "cpu", "pod": "c", "job": "x"}, [(1015.5, "+Inf"), (1000, "0.25")]),
    )
    found = observed(tmp_path, text, column=("cpu x b=cpu in core",))
    assert found.headings == ("time", "request/s", "cpu in core", "cpu x c")
    assert found.rows == (
        ("1970-01-01T00:16:40.000Z", "10", "", "0.25"),
        ("1970-01-01T00:16:55.500Z", "", "0.5", ""),
    )


def test_what_promtool_writes_has_no_envelope(tmp_path: Path) -> None:
    text = json.dumps(json.loads(prometheus(({}, [(1000, "10"), (1001, "20")])))["data"]["result"])
    with pytest.raises(DataError, match="no column that is known"):
        observed(tmp_path, text)
    found = observed(tmp_path, text, column=("value=request/s",))
    assert [cells[1] for cells in found.rows] == ["10", "20"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"status":"error","error":"bad query","data":{"resultType":"matrix","result":[]}}',
            "bad",
        ),
        ('{"status":"success","data":{"resultType":"vector","result":[]}}', "no range of times"),
        ('{"status":"success","data":{"resultType":"matrix","result":[]}}', "contains no values"),
        ('{"status":"success","data":{"resultType":"matrix","result":[1]}}', "not a result"),
        (prometheus(({"a": "b"}, [(1, "x")])), "is not a value"),
        (prometheus(*[({"a": str(i)}, [(1, "1")]) for i in range(101)]), "101 series"),
        ('{"resultType":"m","a":' + "[" * 100_000, "not a result"),
    ],
)
def test_damaged_results_of_prometheus_are_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        observed(tmp_path, text)
