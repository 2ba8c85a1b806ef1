"""Slips that people make in every spec: a word misspelt, left out, or taken for another one.

Whatever rests on what failed has no meaning any more; it must not become a fault of ours.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from documents.docs import ROOT, blocks
from helpers.nightly import nightly
from qps.compiler.check.model.streams import check_steps
from qps.compiler.diagnostics.render import full
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source

_WORDS = re.compile(r'"""(?s:.*?)"""|"[^"\n]*"|#[^\n]*|[^\W\d]\w*|[={}()]')

EVERY_PART = """
users N in 2..60
unit score of rating
unit update
option codec = opus or g711
option cast = unicast
kinds film of users { I 1; P 4 }
param size = 900 byte/packet in 100..1200 byte/packet
param pace = { average 20 packet/s; largest 40 packet/s }
param rate by film { I 2 packet/s; P 5 packet/s }
param draw elastic 3..30 packet/s priority 2
param k = 5
let half = size / 2
func late(x: ms) = 2 * x
group room of k users
group floor of 2 * members(room) users
machine pc { cpu 40 score, idle 2 %; disk 20 Mbit/s; rating 30 score; price 900 $ }
machine big { cpu 4 core * 20 score; disk 80 Mbit/s, queueing md1 }
machine huge(n) = big with cpu n * 1 core, idle 3 %, price 1_900 $
network ether { shared; rate 10 Mbit/s; header 58 byte/packet; queueing mm1 }
network star { switched; rate 100 Mbit/s }
component send(x) { cpu x measured on pc; emit 40 byte/packet }
component serve { cpu 0.2 ms/packet scaled by score; disk 10 byte/packet }
network far = star with propagation 20 ms
component quick(x) = send(x) with emit 30 byte/packet
component both { run quick(2 ms/packet) * 2 if codec == opus; cpu 0.1 ms/packet; run mend }
component mend { delay 1 ms }
component mix { cpu 0.1 ms/packet; merge }
topology {
  node client = pc * N
  node relay = big * ceil(N / k)
  link lan = ether between client, relay
}
stream voice for 2 in each room {
  traffic pace, half
  at client { send(0.3 ms/packet) if codec == opus }
  over lan
  at relay { serve * 2; mix in room; serve to all in room by cast }
  at client { send(0.1 ms/packet); both }
  playout 3 * sqrt(voice.jitter)
}
stream video for each client {
  traffic draw + rate, size; at client { quick(1 ms/packet) }; at relay { serve }
}
measure wait = late(voice.latency) + count(relay) * 0 ms
target cpu 90 %, lan 60 %, client.cpu 80 %
queueing cpu mm1, link md1, client.cpu mg1 cv 2
require { wait <= 400 ms ideal 100 ms; lan.load <= 95 % }
mode talk { voice.latency <= 300 ms; k = 4 }
mode watch { video.latency <= 500 ms }
scenario more { relay = big * 3; size = 400 byte/packet; cast = multicast; codec = g711 }
scenario most { scenario = more; lan = far; k = 6; rate.I = 3 packet/s }
matrix all { k in [4, 5]; relay in [pc, big, huge(8)]; scenario in [more, most]
  column twice = 2 * wait
  where largest_acceptable > 3; select wait, twice; order by twice descending }
expect a { relay.cpu.load ~ 3 % within 90 % with N = 20, relay = big * 2
  saturation(lan) > 1 with k = 5
  every configuration of all where k == 4: largest_acceptable > 1; source "a guess" }
figure f "loads" { over k in 2..9
  line client.cpu.load with N = 20, scenario = more; loads with N = 10 }
"""


def _planted(text: str, most: int, chance: random.Random, each: int = 3) -> Iterator[str]:
    """Yield a text with a slip at some of its words, or at all of them; at each so many."""
    words = [match for match in _WORDS.finditer(text) if match[0][0] not in '"#']
    names = [word[0] for word in words if word[0][0] not in "={}()"]
    for word in words if len(words) <= most else chance.sample(words, most):
        misspelt = word[0] + "q" if word[0] in names else ""
        slips = list(dict.fromkeys((misspelt, "", chance.choice(names))))
        for slip in chance.sample(slips, min(each, len(slips))):
            yield text[: word.start()] + slip + text[word.end() :]


def _looked_at(text: str) -> None:
    for diagnostic in (found := check_source(Source("spec.qps", text)).diagnostics):
        assert diagnostic.hints, diagnostic.message
    full(found)


def test_the_spec_with_every_part_has_no_mistakes() -> None:
    found = check_source(Source("spec.qps", EVERY_PART)).diagnostics
    assert not [d for d in found if d.is_error], full(found)


_PARTS = 16


@pytest.mark.parametrize("part", range(_PARTS))
def test_a_slip_at_every_word_of_a_spec_is_reported_and_no_fault(part: int) -> None:
    """At each word one of three, drawn; by day at a part of the words, at night at the others."""
    texts = list(_planted(EVERY_PART, 10_000, random.Random(7), each=1))
    for text in texts[part::_PARTS]:
        _looked_at(text)


_EXAMPLES = [
    pytest.param(block.body, id=f"{page.stem}:{block.file or block.start}")
    for folder in ("guides", "language")
    for page in sorted((ROOT / "docs" / folder).rglob("*.md"))
    for block in blocks(page.read_text(encoding="utf-8"))
    if block.kind == "qps"
]


@pytest.mark.parametrize("text", _EXAMPLES)
@pytest.mark.parametrize("each", [1, pytest.param(3, marks=nightly)])
def test_slips_in_the_specs_of_the_documentation_are_no_faults(text: str, each: int) -> None:
    for planted in _planted(text, 6, random.Random(text), each):
        _looked_at(planted)


def test_nothing_of_a_wrong_setting_stays_in_a_spec(tmp_path: Path) -> None:
    import qps

    spec = qps.loads(EVERY_PART).spec
    before = spec.known.copied()
    for number in range(300):
        with pytest.raises(qps.QpsError) as result:
            spec.changes([f"nothing_{number} = 3"])
        assert len(result.value.diagnostics) == 1
    assert len(spec.changes(["k = 3"])) == 1
    assert spec.known == before
    assert spec.configuration(None, ["k = 3"]).parameters["k"] is not None


def test_more_wrong_settings_than_anybody_reads() -> None:
    import qps

    spec = qps.loads(EVERY_PART).spec
    for ask in (spec.changes, lambda settings: spec.configuration(None, settings)):
        for settings in ([f"x{n} = 3" for n in range(300)], ["k = 3"] * 300, ["k ="] * 300):
            with pytest.raises(qps.QpsError) as result:
                ask(settings)
            assert [d.code.id for d in result.value.diagnostics][-1] == "QPS0107"
            assert len(result.value.diagnostics) == 201


def test_names_to_offer_are_gathered_for_a_mistake_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gathered for each step, they made the check of many components quadratic."""

    def gathered(*_: object) -> Iterator[str]:
        raise AssertionError("nothing is wrong here")

    monkeypatch.setattr(check_steps, "names_of", gathered)
    text = (
        "users N in 1..9\nmachine box { cpu 1 core }\ncomponent work { cpu 1 ms/packet }\n"
        "component go { }\nnetwork wire { switched; rate 1 Gbit/s }\n"
        "topology { node host = box * N; link lan = wire between host }\n"
        "stream talk for each host {\n traffic 1 packet/s, 8 byte/packet\n"
        " at host { work; go to others }\n at host { work }\n}\n"
    )
    assert check_source(Source("spec.qps", text)).value is not None
