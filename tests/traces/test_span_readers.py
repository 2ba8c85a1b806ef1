"""Files of spans are read as they are, piece by piece; what is no file of spans is refused."""

from __future__ import annotations

import io
import json
import tracemalloc
from collections import Counter
from pathlib import Path

import pytest

from qps.cli import main
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.traces import json_elements, span_store
from qps.compiler.measurement.traces.call_graph import CallGraph
from qps.compiler.measurement.traces.json_elements import parts_of
from qps.compiler.measurement.traces.observed_traces import observed_traces
from qps.compiler.measurement.traces.span_store import by_trace
from qps.compiler.measurement.traces.spans import Kind, TraceSpan
from traces.small_systems import SYSTEMS
from traces.test_random_systems import ways_in
from traces.written_traces import FORMATS, MS, START, Work, as_text, jaeger, otlp, spans_of

CHAIN = spans_of(SYSTEMS["chain"])


def graph_of(tmp_path: Path, *texts: str | bytes) -> CallGraph:
    """Return the graph of files with these texts."""
    files = []
    for number, text in enumerate(texts):
        path = tmp_path / f"{number}.json"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        files.append(path)
    return observed_traces(files)


def test_all_ways_to_write_otlp_are_the_same(tmp_path: Path) -> None:
    document = otlp(CHAIN)
    assert isinstance(document, dict)
    expected = dict(ways_in(graph_of(tmp_path, as_text(document))))
    resources = document["resourceSpans"]
    lines = "\n".join(json.dumps({"resourceSpans": [one]}) for one in resources)
    late = {"resourceSpans": [dict(reversed(one.items())) for one in resources]}
    for text in (
        lines,
        json.dumps(document, indent=2),
        "\ufeff" + json.dumps(document),
        json.dumps({"batches": resources}),
        json.dumps({"trace": document}),
        json.dumps(late),
        json.dumps([document]),
    ):
        assert dict(ways_in(graph_of(tmp_path, text))) == expected


def test_spans_of_a_trace_may_be_in_several_files(tmp_path: Path) -> None:
    halves = (CHAIN[::2], CHAIN[1::2])
    found = graph_of(tmp_path, *(as_text(otlp(one)) for one in halves))
    assert dict(ways_in(found)) == dict(ways_in(graph_of(tmp_path, as_text(otlp(CHAIN)))))


def test_binary_otlp_is_read_as_its_json(tmp_path: Path) -> None:
    pytest.importorskip("opentelemetry.proto.trace.v1.trace_pb2")
    from google.protobuf.json_format import Parse
    from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

    text = as_text(otlp(CHAIN))
    message = Parse(text, TracesData(), ignore_unknown_fields=True)
    # What JSON writes as digits was read as base64: its bytes identify as well.
    found = graph_of(tmp_path, message.SerializeToString())
    assert dict(ways_in(found)) == dict(ways_in(graph_of(tmp_path, text)))


@pytest.mark.parametrize("chunk", [1, 7, 64])
def test_parts_are_found_wherever_chunks_end(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_elements, "_CHUNK", chunk)
    text = '{"a": [{"b": "}]\\"{"}, {"c": {"d": []}}], "e": {"f": "\\\\"}} {"a": [{}]}'
    parts = parts_of(io.BytesIO(text.encode()), "x", lambda path: path == ("a", "[]"))
    found = [part.text.decode() for part in parts if part is not None and part.text]
    assert found == ['{"b": "}]\\"{"}', '{"c": {"d": []}}', "{}"]


def test_spans_that_do_not_fit_into_memory_are_grouped_as_well() -> None:
    from qps.compiler.measurement.traces.spans import Kind, TraceSpan

    spans = [
        TraceSpan(
            trace=f"{number % 37}",
            id=f"{number}",
            parent="",
            service="a",
            operation="b",
            kind=Kind.SERVER,
            start=number,
            end=number + 1,
        )
        for number in range(1000)
    ]
    plain = {one[0].trace: Counter(span.id for span in one) for one in by_trace(spans)}
    stored = {one[0].trace: Counter(span.id for span in one) for one in by_trace(spans, most=50)}
    assert plain == stored
    assert len(plain) == 37


def test_spans_count_by_the_probability_with_which_they_were_sampled(tmp_path: Path) -> None:
    plain = Work(service="front", operation="GET /a")
    quarter = Work(service="front", operation="GET /b", state="ot=th:c;rv:d0000000000000")
    found = graph_of(tmp_path, as_text(otlp(spans_of([plain, quarter, quarter]))))
    assert {route.root.operation: route.root.count for route in found.routes} == {
        "GET /a": 1,
        "GET /b": 8,
    }
    assert found.sampled


def test_a_follower_in_jaeger_is_not_waited_for(tmp_path: Path) -> None:
    document = jaeger(spans_of([Work(service="a", operation="x", calls=(SYSTEMS["chain"][0],))]))
    assert isinstance(document, dict)
    for span in document["data"][0]["spans"]:
        if span["operationName"] == "GET /":
            for one in span["references"]:
                one["refType"] = "FOLLOWS_FROM"
    found = graph_of(tmp_path, as_text(document))
    assert [route.is_message for route in found.routes] == [False, True]


def test_a_client_that_stands_for_users_is_no_part_of_the_system(tmp_path: Path) -> None:
    users = Work(service="k6", operation="task", calls=tuple(SYSTEMS["chain"][:2]))
    path = tmp_path / "traces.json"
    path.write_text(as_text(otlp(spans_of([users] * 3))))
    found = observed_traces([path], clients=["k6"])
    assert [(route.root.service, route.root.count) for route in found.routes] == [("front", 6)]
    assert "k6" not in [one.name for one in found.services]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\x1f\x8b\x08rest", "is a gzip file"),
        (b"<html>", "is HTML or XML"),
        (b"a,b\n1,2\n", "is no JSON"),
        (b'{"metrics": {}}', "is JSON, but of no trace format"),
        (b'{"resourceSpans": []}', "holds no spans"),
        (b'{"resourceSpans": [}', "a bracket closes that is not open"),
        (b'{"resourceSpans": ' + b"[" * 300, "is nested more than 200 levels deep"),
        (b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": 1}]}]}]}', "not valid OTLP"),
        (b'{"data": [{"spans": [{"spanID": 1}]}]}', "not valid Jaeger JSON"),
        (b'[{"traceId": "a"}]', "not valid Zipkin JSON"),
    ],
)
def test_what_is_no_file_of_traces_is_refused(content: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        graph_of(tmp_path, content)


def test_a_file_that_ends_in_the_middle_is_read_up_to_there(tmp_path: Path) -> None:
    text = as_text(otlp(CHAIN))
    found = graph_of(tmp_path, text[: len(text) - 300])
    assert any("ends in the middle" in note for note in found.notes)


def test_a_long_string_is_refused_in_bounded_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_elements, "_LONGEST_STRING", 1 << 21)
    with pytest.raises(DataError, match="has a value longer than"):
        graph_of(tmp_path, '{"resourceSpans": [{"x": "' + "a" * (1 << 22))


def otlp_span(number: int, parent: int, **changes: object) -> dict[str, object]:
    span: dict[str, object] = {
        "traceId": "t",
        "spanId": f"{number}",
        "parentSpanId": f"{parent}" if parent else "",
        "name": f"op {'abcdefgh'[number]}",
        "kind": 2,
        "startTimeUnixNano": str(START + number * MS),
        "endTimeUnixNano": str(START + 100 * MS),
    }
    return {**span, **changes}


def flawed(tmp_path: Path, *spans: dict[str, object]) -> CallGraph:
    """Return the graph of spans, each of its own service."""
    resources = [
        {
            "resource": {
                "attributes": [
                    {"key": "service.name", "value": {"stringValue": f"s{span['spanId']}"}}
                ]
            },
            "scopeSpans": [{"spans": [span]}],
        }
        for span in spans
    ]
    return graph_of(tmp_path, json.dumps({"resourceSpans": resources}))


def test_spans_without_their_parent_are_no_requests_of_their_own(tmp_path: Path) -> None:
    found = flawed(tmp_path, otlp_span(1, 0), otlp_span(2, 7), otlp_span(3, 2))
    assert [route.root.service for route in found.routes] == ["s1"]
    assert found.flaws.orphans == 2
    assert any(note.startswith("warning: 2 spans whose parent is missing") for note in found.notes)


def test_a_trace_without_its_first_span_begins_with_the_first_there_is(tmp_path: Path) -> None:
    found = flawed(tmp_path, otlp_span(2, 1), otlp_span(3, 2))
    assert [route.root.service for route in found.routes] == ["s2"]
    assert found.flaws.rootless == 1


def test_cycles_and_duplicates_are_counted_once(tmp_path: Path) -> None:
    found = flawed(
        tmp_path,
        otlp_span(1, 0),
        otlp_span(1, 0),
        otlp_span(2, 3),
        otlp_span(3, 2),
        otlp_span(4, 4),
    )
    assert found.flaws.duplicates == 1
    assert found.flaws.in_cycles == 3
    assert len(found.services) == 1


def test_a_clock_that_differs_changes_no_time_that_is_reported(tmp_path: Path) -> None:
    late = START + 3_600_000 * MS
    skewed = otlp_span(2, 1, startTimeUnixNano=str(late), endTimeUnixNano=str(late + 40 * MS))
    found = flawed(tmp_path, otlp_span(1, 0), skewed)
    (call,) = (one for step in found.routes[0].root.steps for one in step.together[0])
    assert call.duration == pytest.approx(0.040)
    assert found.routes[0].root.own == pytest.approx(0.099 - 0.040)
    assert found.flaws.skewed == 1


def test_a_span_that_ends_before_it_starts_takes_no_time(tmp_path: Path) -> None:
    found = flawed(tmp_path, otlp_span(1, 0), otlp_span(2, 1, endTimeUnixNano=str(START)))
    assert found.flaws.ends_before_start == 1


@pytest.mark.parametrize("kind", FORMATS)
def test_traces_among_results_are_recognized(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "traces.json"
    path.write_text(as_text(FORMATS[kind](CHAIN)))
    assert main(["observe", str(path)]) == 2
    assert "is a file of distributed traces" in capsys.readouterr().err


@pytest.mark.parametrize("end", ["0", "-5", str(10**40)])
def test_a_span_without_a_valid_end_takes_no_time(end: str, tmp_path: Path) -> None:
    found = flawed(tmp_path, otlp_span(1, 0), otlp_span(2, 1, endTimeUnixNano=end))
    assert found.flaws.ends_before_start == 1
    assert [one.requests for one in found.services] == [1, 1]


def test_calls_that_nest_without_end_are_left_out(tmp_path: Path) -> None:
    work = Work(service="a", operation="x")
    for number in range(60):
        work = Work(service=f"s{number % 7}", operation="x", calls=(work,))
    found = graph_of(tmp_path, as_text(otlp(spans_of([work]))))
    assert found.flaws.too_deep == 1
    assert len(list(ways_in(found))) == 26


def test_memory_is_bounded_however_many_spans_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight times as many spans need hardly more memory, as those of few traces are together."""
    monkeypatch.setattr(span_store, "_PACKED", 8)

    def peak(count: int) -> int:
        template = {
            "trace": "", "id": "", "parent": "", "service": "s", "operation": "o",
            "kind": Kind.SERVER, "start": 0, "end": 1,
        }  # fmt: skip
        spans = (
            TraceSpan(**{**template, "trace": f"{n // 5:032x}", "id": f"{n:016x}"})
            for n in range(count)
        )
        tracemalloc.start()
        try:
            assert sum(len(one) for one in by_trace(spans, 500)) == count
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(1000)
    assert peak(40_000) < 2 * peak(5_000)


@pytest.mark.parametrize("kind", FORMATS)
def test_what_opens_a_door_is_left_out_of_names_and_reported(kind: str, tmp_path: Path) -> None:
    work = Work(service="shop", operation="GET /cart?token=abcdef")
    found = graph_of(tmp_path, as_text(FORMATS[kind](spans_of([work] * 3))))
    assert "abcdef" not in repr(found)
    assert any("3 spans with credentials" in note for note in found.notes)
    plain = graph_of(tmp_path, as_text(FORMATS[kind](CHAIN)))
    assert not any("credentials" in note for note in plain.notes)
