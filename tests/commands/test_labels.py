"""What things and changes are called for people, and how changes are set."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import qps
from helpers.specs import checked, lowered
from qps.cli import main
from qps.compiler.lower.queues.queue_certainty import stage_certainty
from qps.reports.text.words.labels import labels_of
from qps.reports.text.words.nouns import counted, noun_of_one

SPECS = Path(__file__).parents[2] / "specs"
SHOP = '''
users shoppers in 1..10_000
"""How often people click. Counted in May."""
param pace = 0.1 request/s
option cache = off
machine server { cpu 4 core, queueing mmc; memory 8 GB }
machine big { cpu 16 core, queueing mmc; memory 8 GB }
machine laptop { }
network wire { switched; rate 1 Gbit/s }
network pair { duplex; rate 1 Gbit/s }
component answer { cpu if cache then 6 ms/request else 8 ms/request; memory 10 kB }
topology {
  node web = server * 2
  """Old box"""
  node db = server
  node browser = laptop * shoppers
  link wan = wire between web, browser
  link back = pair between web, db
}
stream replies for each browser {
  traffic pace, 80 kB/request
  at web { answer }
  over wan
  at browser { }
}
stream looks in all {
  traffic shoppers * pace / 9, 1 kB/request
  at web { }
  over back
  at db { answer }
}
measure clicks_seen = shoppers * pace
require { web.cpu.load <= 75 %; quantile(replies.latency, 99.9 %) <= 1 s }
'''


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("web.cpu", "web CPU"),
        ("web.cpu.utilization", "web CPU"),
        ("db.memory", "old box: memory"),
        ("wan.web.out", "wan egress from web"),
        ("wan.browser.in.utilization", "wan ingress to browser"),
        ("back.forth", "back from web to old box"),
        ("back.back.packets", "back packets from old box to web"),
        ("wan.web.out.packets", "wan egress packets from web"),
        ("wan.rate", "wan rate"),
        ("web.cpu.cores", "web CPU cores"),
        ("web.memory.capacity", "web memory capacity"),
        ("answer.cpu", "answer CPU time"),
        ("answer.cpu.request", "answer CPU time per request"),
        ("replies.latency", "replies latency"),
        ("replies.loss", "replies loss"),
        ("limit of quantile(replies.latency, 99 %)", "replies p99 limit"),
        ("replies.p99_9", "replies p99.9"),
        ("quantile(replies.latency, 99.9 %)", "replies p99.9"),
        ("quantile(replies.latency, 50.0 %)", "replies p50"),
        ("replies.latency + looks.latency", "replies latency + looks latency"),
        ("clicks_seen * 1 token", "clicks seen"),
        ("clicks_seen / (1 request)", "clicks seen"),
        ("clicks_seen * 1 minute", "clicks_seen * 1 minute"),
        ("clicks_seen * 2 token", "clicks_seen * 2 token"),
        ("pace", "pace"),
        ("clicks_seen", "clicks seen"),
        ("web", "web"),
    ],
)
def test_names_have_words(name: str, expected: str) -> None:
    assert labels_of(checked(SHOP).model).of(name) == expected


@pytest.mark.parametrize(
    ("doc", "expected"),
    [
        ("Traffic of others: a share of the rate.", "traffic of others"),
        ("Utilization of the threads", "utilization of the threads"),
        ("CPU time for sending, in a second.", "CPU time for sending"),
        ("SRS (Simple Realtime Server).", "SRS"),
        ("How busy the threads are.", "clicks_seen"),
        ("How many, how long.", "clicks_seen"),
        ("What it costs: much", "clicks_seen"),
        ("Which machine.", "clicks_seen"),
        ("Without encryption.", "clicks_seen"),
        ("A picture waits: for the network", "clicks_seen"),
        ("The old box", "clicks_seen"),
        ("160 ms of sound.", "clicks_seen"),
        ("Frames of 16.5 ms.", "clicks_seen"),
        ("Clicks that were seen.", "clicks_seen"),
        ("Accesses to the network in a second.", "clicks_seen"),
    ],
)
def test_a_docstring_is_a_label_where_it_is_a_short_noun_phrase(doc: str, expected: str) -> None:
    spec = SHOP.replace("measure clicks_seen", f'"""{doc}"""\nmeasure clicks_seen')
    assert labels_of(checked(spec).model).of("clicks_seen") == expected.replace("_", " ")


def test_a_noun_phrase_that_two_share_is_the_label_of_neither() -> None:
    shared = '"""Clicks: {}."""\nmeasure {} = shoppers * pace\n'
    model = checked(SHOP + shared.format("of all", "seen") + shared.format("kept", "stored")).model
    assert [labels_of(model).of(name) for name in ("seen", "stored")] == ["seen", "stored"]


def test_in_a_sentence_parts_have_words_and_words_stay() -> None:
    labels = labels_of(checked(SHOP).model)
    text = labels.sentence("web.cpu is loaded 75 %; replies: 3 ms later (wan.web.out); the web.")
    assert text == "web CPU is loaded 75 %; replies: 3 ms later (wan egress from web); the web."


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("waiting for web.cpu", "web CPU queueing delay"),
        ("over wan", "wan transmission"),
        ("answer at web", "answer at web"),
        ("web and db together", "web and db in parallel"),
    ],
)
def test_stages_have_words(name: str, expected: str) -> None:
    assert labels_of(checked(SHOP).model).stage(name) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`quality` is", "Quality penalty is"),
        ("Load of `web.cpu.load` is", "Load of web CPU utilization is"),
        ("see `db`, at `nobody`", "see old box, at `nobody`"),
        ("`saturation(web.cpu)` is", "Web CPU saturation point is"),
        ("of `replies.latency + looks.latency`", "of replies latency + looks latency"),
        ("it takes `qps simulate`", "it takes `qps simulate`"),
    ],
)
def test_quoted_names_have_words_without_their_quotes(text: str, expected: str) -> None:
    assert labels_of(checked(SHOP).model).sentence(text) == expected


def test_a_quality_is_reported_by_the_needs_behind_it(capsys: pytest.CaptureFixture[str]) -> None:
    speak = str(SPECS / "audioconference.qps")
    main(["solve", "--all", "--no-advice", speak])
    output = " ".join(capsys.readouterr().out.split())
    needs = "voice latency ≥ 227 ms (limit 230 ms) and voice loss 0.972 % (limit 6 %)"
    assert f"At 46 users, the overall quality penalty exceeds 1: {needs}." in output
    assert "quality is" not in output
    main(["solve", "--no-advice", speak, "--format", "json"])
    assert "quality is 1.0" in json.loads(capsys.readouterr().out)["answer"]


def test_changes_have_words_and_what_they_set_answers_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "shop.qps"
    file.write_text(SHOP, encoding="utf-8")
    main(["solve", str(file), "--format", "json"])
    advice: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["advice"]
    words = {one["words"] for one in advice}
    assert words >= {
        "web: server -> big",
        "web: 2 -> 4 servers",
        "web.cpu.cores: 4 -> 8",
        "pace: 0.1 -> 0.09 requests/s",
        "cache: off -> on",
    }
    model = qps.load(str(file))
    for one in advice:
        name, _, value = one["setting"].partition(" = ")
        assert model.solve(set={name: value}).capacity == one["capacity"], one


def test_a_price_is_reported_requested_and_never_invented(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    file = tmp_path / "shop.qps"
    file.write_text(SHOP, encoding="utf-8")
    main(["solve", str(file)])
    assert "Cost         no prices set; add `price 0.8 $/hour` to" in capsys.readouterr().out
    file.write_text(SHOP.replace("memory 8 GB }", "memory 8 GB; price 900 $ }"), encoding="utf-8")
    main(["solve", str(file)])
    output = capsys.readouterr().out
    assert "+$1,800" in output
    assert "same cost" in output
    assert "no prices set" not in output


@pytest.mark.parametrize(
    ("count", "name", "several", "one"),
    [
        (400, "connected", "400 connected users", "connected user"),
        (2, "people_waiting", "2 people waiting", "people waiting"),
        (2, "viewers", "2 viewers", "viewer"),
        (1, "customers_of_the_shop", "1 customer of the shop", "customer of the shop"),
    ],
)
def test_who_is_called_by_what_they_do_are_users(
    count: int, name: str, several: str, one: str
) -> None:
    assert (counted(count, name), noun_of_one(name)) == (several, one)


APART = """
users N in 1..100
machine store {{ cpu {cores} core, queueing {law} }}
component get {{ cpu 2 ms/request }}
component scan {{ cpu {long} ms/request }}
topology {{ node redis = store }}
stream gets in all {{ traffic N * 1 request/s; at redis {{ get }} }}
stream scans in all {{ traffic N * 0.01 request/s; at redis {{ scan }} }}
"""


@pytest.mark.parametrize(
    ("law", "cores", "long", "there", "anywhere"),
    [
        ("mm1", 1, "2", None, None),
        ("mm1", 1, "40", None, None),
        ("mmc", 4, "4", 0.02, 0.02),
        ("mmc", 4, "20", 0.1, 0.15),
        ("mmc", 4, "40", 0.3, 0.3),
    ],
)
def test_an_error_of_two_moments_rests_on_how_far_services_are_apart(
    law: str, cores: int, long: str, there: float | None, anywhere: float | None
) -> None:
    """One of a hundred that takes twenty times as long was 93 % off, with an error of 15 %."""
    stream = lowered(APART.format(law=law, cores=cores, long=long)).streams["gets"]
    assert stream.latency_certainty.error == there
    at_no_point = replace(stream, doubts=replace(stream.doubts, points=()))
    assert at_no_point.latency_certainty.error == anywhere
    known = stage_certainty(next(part.queue for part in stream.latency if part.queue))
    assert known.is_exact == (law == "mm1")
