"""What is declared for each of some kinds: the answer of the longer text, name by name."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.nightly import nightly
from qps.cli import main
from qps.compiler.check.names.index_checks import MOST_OF_EACH
from qps.compiler.diagnostics.render import plain
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source
from qps.compiler.syntax.format import formatted

HEAD = """\
users N in 1..1_000_000
kinds region { us 50 %; eu 30 %; ap 20 % }
param pods by region { us 8; eu 5; ap 4 }
param limit by region { us 250 ms; eu 60 ms; ap 400 ms }
param pace by region { us 3; eu 2; ap 1 }
machine pod { cpu 2 core; price 0.1 $/hour }
machine big { cpu 16 core; price 1 $/hour }
machine browser { }
component page(t) { cpu t }
component query { cpu 1 ms/request }
component apply { cpu 0.1 ms/message }
queueing cpu mmc
quality worst
"""
SHORT = (
    HEAD
    + """\
param distance by region, region { us eu 40 ms; us ap 75 ms; ap eu 90 ms; us us 1 ms }
network edge(d) { switched; rate 10 Gbit/s; propagation d }
network internet(d) = edge(d) with header 40 byte/packet
let work = 2 ms/request * pace / 3
let twice = work * 2
topology {
  node client for each region = browser * (N * region)
  node web for each region = pod * pods
  node db, log = big
  node replica for each region but eu = pod * 3
  link lan for each region = edge(1 ms) between client, web
  link wan for each region = internet(distance.eu) between web, db
  link far for each region but eu = internet(distance.eu * 1.5) between db, replica
  link ring for each pair of region = internet(distance) between web
  link all_logs = edge(2 ms) between log, web
}
stream browse for each client in each region {
  traffic 1 request / 20 s, 2 kB/request, 1448 byte/packet
  at client { }
  over lan
  at web { page(twice); call db over wan { query } }
}
stream replicate for each region but eu {
  traffic 200 message/s * region, 500 byte/message, 1448 byte/packet
  at db { }
  at replica { apply }
}
stream gossip in all {
  traffic 10 message/s, 500 byte/message, 1448 byte/packet
  at web.us { }
  over ring.ap.us
  at web.ap { apply }
}
stream voice for each user in each region {
  traffic 1 message/s, 100 byte/message, 1448 byte/packet
  at web { apply }
}
let busy = web.cpu.load
measure margin = limit - browse.latency
measure slowest = max(browse.latency)
measure machines = sum(count(web)) + sum(pods)
require {
  browse.latency <= limit
  browse.ap.latency <= 300 ms
  quantile(browse.latency, 95 %) <= 900 ms
  busy <= 80 %
  margin >= -1 s
  slowest <= 1 s
  replicate.latency <= 200 ms
}
target web.cpu 90 %, ring 70 %
scenario twice_as_many { web = pod * (pods * 2) }
"""
)
LONG = (
    HEAD
    + """\
param distance_us_eu = 40 ms
param distance_us_ap = 75 ms
param distance_eu_ap = 90 ms
let distance_eu_eu = 0 ms
network edge(d) { switched; rate 10 Gbit/s; propagation d }
network internet(d) = edge(d) with header 40 byte/packet
let work_us = 2 ms/request * pace.us / 3
let work_eu = 2 ms/request * pace.eu / 3
let work_ap = 2 ms/request * pace.ap / 3
let twice_us = work_us * 2
let twice_eu = work_eu * 2
let twice_ap = work_ap * 2
topology {
  node client_us = browser * (N * region.us)
  node client_eu = browser * (N * region.eu)
  node client_ap = browser * (N * region.ap)
  node web_us = pod * pods.us
  node web_eu = pod * pods.eu
  node web_ap = pod * pods.ap
  node db, log = big
  node replica_us, replica_ap = pod * 3
  link lan_us = edge(1 ms) between client_us, web_us
  link lan_eu = edge(1 ms) between client_eu, web_eu
  link lan_ap = edge(1 ms) between client_ap, web_ap
  link wan_us = internet(distance_us_eu) between web_us, db
  link wan_eu = internet(distance_eu_eu) between web_eu, db
  link wan_ap = internet(distance_eu_ap) between web_ap, db
  link far_us = internet(distance_us_eu * 1.5) between db, replica_us
  link far_ap = internet(distance_eu_ap * 1.5) between db, replica_ap
  link ring_us_eu = internet(distance_us_eu) between web_us, web_eu
  link ring_us_ap = internet(distance_us_ap) between web_us, web_ap
  link ring_eu_ap = internet(distance_eu_ap) between web_eu, web_ap
  link all_logs = edge(2 ms) between log, web_us, web_eu, web_ap
}
"""
    + "".join(
        f"""\
stream browse_{k} for each client_{k} {{
  traffic 1 request / 20 s, 2 kB/request, 1448 byte/packet
  at client_{k} {{ }}
  over lan_{k}
  at web_{k} {{ page(twice_{k}); call db over wan_{k} {{ query }} }}
}}
"""
        for k in ("us", "eu", "ap")
    )
    + "".join(
        f"""\
stream replicate_{k} in all {{
  traffic 200 message/s * region.{k}, 500 byte/message, 1448 byte/packet
  at db {{ }}
  at replica_{k} {{ apply }}
}}
"""
        for k in ("us", "ap")
    )
    + """\
stream gossip in all {
  traffic 10 message/s, 500 byte/message, 1448 byte/packet
  at web_us { }
  over ring_us_ap
  at web_ap { apply }
}
"""
    + "".join(
        f"""\
stream voice_{k} for each client_{k} {{
  traffic 1 message/s, 100 byte/message, 1448 byte/packet
  at web_{k} {{ apply }}
}}
"""
        for k in ("us", "eu", "ap")
    )
    + "".join(f"let busy_{k} = web_{k}.cpu.load\n" for k in ("us", "eu", "ap"))
    + "".join(f"measure margin_{k} = limit.{k} - browse_{k}.latency\n" for k in ("us", "eu", "ap"))
    + """\
measure slowest = max(browse_us.latency, browse_eu.latency, browse_ap.latency)
measure machines = count(web_us) + count(web_eu) + count(web_ap) + sum(pods)
require {
"""
    + "".join(f"  browse_{k}.latency <= limit.{k}\n" for k in ("us", "eu", "ap"))
    + "  browse_ap.latency <= 300 ms\n"
    + "".join(f"  quantile(browse_{k}.latency, 95 %) <= 900 ms\n" for k in ("us", "eu", "ap"))
    + "".join(f"  busy_{k} <= 80 %\n" for k in ("us", "eu", "ap"))
    + "".join(f"  margin_{k} >= -1 s\n" for k in ("us", "eu", "ap"))
    + "  slowest <= 1 s\n"
    + "".join(f"  replicate_{k}.latency <= 200 ms\n" for k in ("us", "ap"))
    + """\
}
target web_us.cpu 90 %, web_eu.cpu 90 %, web_ap.cpu 90 %
target ring_us_eu 70 %, ring_us_ap 70 %, ring_eu_ap 70 %
scenario twice_as_many {
  web_us = pod * (pods.us * 2)
  web_eu = pod * (pods.eu * 2)
  web_ap = pod * (pods.ap * 2)
}
"""
)

# What differs by where it stands; and words, which are made of names: `pods_us` is "pods, us".
PLACES = ("line", "column", "end_line", "end_column", "place", "excerpt", "words")


@pytest.fixture
def reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., str]:
    """Return what runs a command on a text, and gives what it prints."""
    monkeypatch.chdir(tmp_path)

    def run(text: str, command: str, *arguments: str) -> str:
        tmp_path.joinpath("spec.qps").write_text(text, encoding="utf-8")
        assert main([command, "spec.qps", *arguments]) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    return run


def found_in(text: str) -> str:
    return plain(check_source(Source("spec.qps", text)).diagnostics)


def joined(text: str) -> str:
    """Return a text with `web.us` written as `web_us`, and `ring.us.ap` as `ring_us_ap`."""
    for _ in range(2):
        text = re.sub(r"\b(\w+)\.(us|eu|ap)\b", r"\1_\2", text)
    return text


def answer(output: str) -> object:
    """Return an answer without the places in the text that it names."""

    def bare(value: object) -> object:
        if isinstance(value, dict):
            return {name: bare(one) for name, one in value.items() if name not in PLACES}
        return [bare(one) for one in value] if isinstance(value, list) else value

    return bare(json.loads(re.sub(r"spec\.qps:\d+(:\d+)?", "spec.qps", joined(output))))


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param([], marks=nightly),
        pytest.param(["--no-advice"], marks=nightly),
        pytest.param(["--set", "N=7000"], marks=nightly),
        pytest.param(["--scenario", "twice_as_many", "--no-advice"], marks=nightly),
        pytest.param(["--set", "web.eu=big*2", "--no-advice"], marks=nightly),
        ["--scenario", "twice_as_many", "--set", "distance.us.ap=10 ms", "--no-advice"],
        pytest.param(["--set", "pods.ap=9", "--no-advice"], marks=nightly),
    ],
)
def test_the_answer_is_that_of_the_longer_text(
    arguments: list[str], reported: Callable[..., str]
) -> None:
    long = [
        joined(one).replace("pods_", "pods.")
        if one.startswith(("web", "distance", "pods"))
        else one
        for one in arguments
    ]
    short = answer(reported(SHORT, "solve", *arguments, "--format", "json"))
    wanted = answer(reported(LONG, "solve", *long, "--format", "json"))
    assert short == wanted


@pytest.mark.parametrize("name", ["browse.ap", "web.eu.cpu", "ring.us.ap", "voice.us"])
def test_what_is_explained_is_that_of_the_longer_text(
    name: str, reported: Callable[..., str]
) -> None:
    short = reported(SHORT, "explain", name, "--at", "900", "--format", "json")
    long = reported(LONG, "explain", joined(name), "--at", "900", "--format", "json")
    assert answer(short) == answer(long)


def test_fmt_keeps_what_is_written_and_its_comments() -> None:
    text = SHORT.replace("between web, db\n", "between web, db  # by the primary\n")
    result = formatted(Source("spec.qps", text))
    assert result.value is not None
    assert "link wan for each region = internet(distance.eu) between web, db  #" in result.value
    assert formatted(Source("spec.qps", result.value)).value == result.value


def test_a_table_is_the_same_both_ways(reported: Callable[..., str]) -> None:
    there, back = (
        reported(
            SHORT, "solve", "--set", f"distance.{way}=10 ms", "--no-advice", "--format", "json"
        )
        for way in ("us.ap", "ap.us")
    )
    assert json.loads(there)["resources"] == json.loads(back)["resources"]
    assert "`distance.us.us`" not in found_in(SHORT)


def test_a_matrix_has_what_there_is_of_each_as_axes(reported: Callable[..., str]) -> None:
    claims = """\
matrix sizes { web.us in [pod * 2, pod * 8]; distance.eu.ap in [10 ms, 90 ms]; at N = 1000 }
expect sizes "each alone" {
  browse.latency <= 1 s with N = 10
  (web.ap.cpu.load with web = pod * 2, N = 900) ~ 2 * (web.ap.cpu.load with N = 900) within 0.1 %
  source model
}
"""
    rows = reported(SHORT + claims, "matrix", "sizes", "--format", "csv").splitlines()
    assert rows[0].startswith('"web.us","distance.eu.ap"')
    assert len(rows) == 1 + 4
    assert "4 passed" in reported(SHORT + claims, "test")


def test_an_instance_has_indices_of_its_own(reported: Callable[..., str], tmp_path: Path) -> None:
    tmp_path.joinpath("shop.qps").write_text(SHORT, encoding="utf-8")
    use = (
        'use "shop.qps" as shop with population = N, web.eu = shop.pod * 9, distance.us.ap = 1 ms\n'
        "users N in 1..1000\nrequire { shop.browse.eu.latency <= 1 s }\n"
    )
    shown = reported(use, "explain", "shop.web.eu.cpu", "--at", "900")
    assert "shop.web.eu" in shown
    alone = reported(SHORT, "explain", "web.eu.cpu", "--at", "900", "--set", "web.eu=pod*9")
    value = re.compile(r"Value +([0-9.e-]+ %) at N = 900\n")
    assert value.findall(shown)[0] == value.findall(alone)[0]


def test_what_there_is_of_each_is_bounded() -> None:
    many = " ; ".join(f"k{i} 1" for i in range(200))
    text = f"kinds region {{ {many} }}\nmachine pod {{ cpu 1 core }}\nusers N in 1..9\n"
    nodes = "".join(f"  node n{i} for each region = pod\n" for i in range(MOST_OF_EACH // 200 + 1))
    assert "QPS0105" in found_in(text + f"topology {{\n{nodes}}}\n")
    pairs = (
        "topology { node n for each region = pod\n link l for each pair of region = x between n }"
    )
    assert "QPS0105" in found_in(text + pairs)


ROOMS = """\
users N in 1..10000
kinds region { us 60 %; eu 40 % }
group room of 8 users in each region
group hall of 16 users in each region
machine pc { cpu 1 core }
machine box { cpu 8 core; nic 1 Gbit/s }
network lan { rate 1 Gbit/s; header 38 byte/packet }
component talk { cpu 1 ms/packet }
component mix { cpu 0.2 ms/packet; merge }
topology {
  node desk for each region = pc * (N * region)
  node server for each region = box * ceil(count(room) / 100)
  link wire for each region = lan between desk, server
}
stream voice for each desk in each region {
  traffic 2 packet/s, 200 byte/packet
  at desk { talk }
  at server { mix in room to all in room }
  at desk { talk }
}
stream film for 2 in each hall in each region {
  traffic 1 packet/s, 200 byte/packet
  at desk { }
  at server { talk to others in hall }
  at desk { talk }
}
stream note for each user in each region {
  traffic 1 packet/s, 200 byte/packet
  at desk { }
  at server { talk to others in room at most 3 }
  at desk { talk }
}
require { voice.latency <= 200 ms; desk.cpu.load <= 90 % }
"""


def test_rooms_in_each_region_are_those_of_an_instance_for_each(
    reported: Callable[..., str], tmp_path: Path
) -> None:
    one = ROOMS.replace(" for each region", "").replace(" in each region", "")
    one = re.sub(r"kinds .*\n", "", one).replace("(N * region)", "N")
    tmp_path.joinpath("one.qps").write_text(one, encoding="utf-8")
    use = """\
users N in 1..10000
kinds region { us 60 %; eu 40 % }
use "one.qps" as place for each region with population = N * region
"""

    def loads(text: str) -> dict[str, object]:
        answer = json.loads(reported(text, "solve", "--set", "N=500", "--format", "json"))
        named = {
            re.sub(r"\bplace\.(us|eu)\.(\w+)", r"\2.\1", r["name"]): r for r in answer["resources"]
        }
        return {name: found["utilization_at_limit"] for name, found in sorted(named.items())}

    short, long = loads(ROOMS), loads(use)
    assert short
    assert short == long


def test_an_instance_for_each_takes_what_there_is_for_its_kind(
    reported: Callable[..., str], tmp_path: Path
) -> None:
    tmp_path.joinpath("shop.qps").write_text(
        "users n in 1..1000\nparam lag = 1 ms\nmachine pod { cpu 2 core }\n"
        "network lan { rate 1 Gbit/s; propagation lag }\ncomponent work { cpu 1 ms/request }\n"
        "topology { node web = pod * 4; node db = pod; link l = lan between web, db }\n"
        "stream a for each user {\n  traffic 1 request/s, 1 kB/request\n"
        "  at web { work }\n  at db { work }\n}\n",
        encoding="utf-8",
    )
    text = """\
use "shop.qps" as shop for each region with population = N * region, lag = distance.eu, db = store
users N in 1..1000
kinds region { us 60 %; eu 40 % }
param distance by region, region { us eu 40 ms }
machine big { cpu 8 core }
topology { node store for each region = big }
require { shop.us.a.latency <= 1 s; store.cpu.load <= 90 % }
"""
    answer = json.loads(reported(text, "solve", "--set", "N=100", "--format", "json"))
    loads = {one["name"]: one["utilization_at_limit"] for one in answer["resources"]}
    assert loads["store.us.cpu"] == pytest.approx(60 / 8000)
    assert loads["store.eu.cpu"] == pytest.approx(40 / 8000)
    assert "Value        42.008 ms at N = 100\n" in reported(
        text, "explain", "shop.us.a", "--at", "100"
    )
    assert "Value        2.0" in reported(text, "explain", "shop.eu.a", "--at", "100")
