"""What completion offers at each place of the grammar: one table."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from browsers.editor import marked
from qps.editing.code_completion import completion
from qps.editing.messages import OpenText
from qps.editing.open_documents import OpenDocuments

SPEC = """\
use std.net as net
use "parts.qps" as parts
users N in 1..100
group room of 4 users
option codec = opus or vorbis
param pace = 2 request/s
param size = 2 kB/request
param wait = 3 ms
param part = 20 % in 0..100 %
kinds film { short 50 %; long 50 % }
param decode by film { short 3 ms/request; long 4 ms/request }
let twice = size * 2
machine box { cpu 1 core; threads 20 thread; disk 10 MB/s }
network wire { rate 1 Gbit/s }
component work { cpu 3 ms/request }
topology {
  node web = box
  node client = box * N
  link lan = wire between web, client
}
stream flow for each client { traffic pace, size; at client { }; over lan; at web { work } }
measure slow = flow.latency * 2
require { web.cpu.load <= 80 %; flow.latency <= 1 s }
scenario fast { pace = 3 request/s }
mode calm { flow.latency <= 2 s }
matrix rows { web in [box]; codec in [opus, vorbis] }
"""
EVENT = "stream s { traffic pace; event hit = 85 %; event late = part;"
FIRST, _PARTS = 5, 3
"""What is meant is among so many, of those that begin as what was typed."""

OFFERED = [
    # Sums, products, arguments, conditions.
    ("let more = si‸", "size"),
    ("let more = size + ‸", "size twice"),
    ("let more = flow_ + parts.‸", "cost"),
    ("let more = 3 * (pace + ‸", "pace"),
    ("let more = max(wait, ‸", "wait slow"),
    ("let more = if ‸", "codec"),
    ("let more = if not ‸", "codec"),
    ("let more = if codec == opus and ‸", "codec"),
    ("let more = if codec == ‸", "opus vorbis"),
    ("let more = if twice > ‸", "size twice"),
    ("let more = if codec == opus then size else tw‸", "twice"),
    ("let more = decode.‸", "short long"),
    ("let more = film.‸", "short long"),
    ("let more = count(‸", "web room"),
    ("let more = members(‸", "room"),
    ("measure more = quantile(‸", "flow"),
    ("measure more = saturation(‸", "web"),
    # Units.
    ("let more = 3 ‸", "ms s kB"),
    ("let more = size + 3 ‸", "kB byte"),
    ("let more = 3 kB/‸", "request packet s"),
    # What claims and figures ask for.
    ("expect e { ‸", "flow web capacity"),
    ("expect e { flow.‸", "latency loss"),
    ("expect e { web.‸", "cpu queue"),
    ("expect e { web.u‸", "utilization"),
    ("expect e { web.w‸", "wait"),
    ("expect e { flow.latency ~ ‸", "wait slow"),
    ("expect e { flow.latency <= 3 ms with ‸", "pace size codec"),
    ("expect e { flow.latency <= 3 ms with codec = ‸", "opus vorbis"),
    ("expect e { flow.latency <= 3 ms with pace = 1 request/s, ‸", "codec size"),
    ("expect e { flow.latency <= 3 ms with web = ‸", "box"),
    ("expect e { flow.latency <= 3 ms with scenario = ‸", "fast"),
    ("expect e { flow.latency <= 3 ms with mode = ‸", "calm"),
    ("expect e { flow.latency <= 3 ms with case = ‸", "average least largest"),
    ("expect e { every configuration of ‸", "rows"),
    ("figure f { over ‸", "N pace"),
    ("figure f { over N in 2..9; line ‸", "flow web"),
    ("require { ‸", "flow web"),
    ("require { flow.latency <= ‸", "wait"),
    ("target ‸", "cpu disk"),
    ("quality ‸", "euclidean worst"),
    # Axes of matrices, scenarios.
    ("matrix m { ‸", "codec pace"),
    ("matrix m { codec in [‸", "opus vorbis"),
    ("matrix m { codec in [opus, ‸", "opus vorbis"),
    ("matrix m { web in [‸", "box net"),
    ("matrix m { lan in [‸", "wire net"),
    ("matrix m { scenario in [‸", "fast"),
    ("matrix m { codec in [opus]; where ‸", "capacity"),
    ("matrix m { codec in [opus]; order by ‸", "capacity"),
    ("matrix m { codec in [opus]; select capa‸", "capacity"),
    ("matrix m { codec in [opus]; exclude codec == ‸", "opus vorbis"),
    ("scenario s { ‸", "pace codec"),
    ("scenario s { codec = ‸", "opus vorbis"),
    ("scenario s { web = ‸", "box net"),
    ("scenario s { pace = ‸", "pace"),
    # Files, modules.
    ('use "‸', "parts.qps sub/more.qps ../shared.qps"),
    ('use "su‸', "sub/more.qps"),
    ('component c { cpu fit "‸', "runs.csv"),
    ('observe o "‸', "runs.csv"),
    ("use std.‸", "cloud codecs"),
    ("edition ‸", "2026"),
    # Hardware and topology.
    ("topology { node x = ‸", "box"),
    ("topology { node x = box * ‸", "N"),
    ("topology { link l = ‸", "wire net"),
    ("topology { link l = wire between ‸", "web client"),
    ("topology { link l = wire between web, ‸", "client"),
    ("topology { link l = net.gig‸", "gigabit_ethernet"),
    ("machine m = ‸", "box"),
    ("machine m = box with ‸", "cpu disk threads"),
    ("machine m { cpu 2 core, ‸", "idle jitter efficiency"),
    ("machine m { cpu 2 core, queueing ‸", "mm1 md1"),
    ("queueing ‸", "cpu disk"),
    ("queueing cpu ‸", "mm1 md1"),
    ("network n { ‸", "rate propagation"),
    ("network n = ‸", "wire"),
    # Work and streams.
    ("component c { ‸", "cpu disk run"),
    ("component c { cpu ‸", "decode"),
    ("component c { run ‸", "work"),
    ("component c { cpu 3 ms/request measured on ‸", "box"),
    ("param z by ‸", "film"),
    ("param z by film { ‸", "short long"),
    ("param z by film { short 3 ms; ‸", "short long"),
    ("correlation ‸", "pace size wait"),
    ("stream s for each ‸", "client room film"),
    ("stream s { traffic ‸", "pace"),
    ("stream s { traffic pace, ‸", "size twice"),
    ("stream s { at ‸", "web client"),
    ("stream s { over ‸", "lan"),
    ("stream s { playout ‸", "wait"),
    ("stream s { at web { ‸", "work call take"),
    ("stream s { at web { work; ‸", "work call take"),
    ("stream s { traffic pace; ‸", "at over"),
    ("stream s { at web { work; take ‸", "threads"),
    ("stream s { at web { call ‸", "client web"),
    ("stream s { at web { call client over ‸", "lan"),
    ("stream s { at web { work if ‸", "codec"),
    ("stream s { at web { work * ‸", "N"),
    ("stream s { at web { work to all ‸", "client web"),
    ("stream s { at web { work to others in ‸", "room"),
    # What happens by chance.
    (f"{EVENT} at web {{ ‸", "call hit late"),
    (f"{EVENT} at web {{ work; not ‸", "hit late"),
    (f"{EVENT} at web {{ work; not h‸", "hit"),
    (f"{EVENT} at web {{ hit: ‸", "call take late"),
    (f"{EVENT} at web {{ hit: wo‸", "work"),
    (f"{EVENT} at web {{ not hit: {{ wo‸", "work"),
    (f"{EVENT} at web {{ 1 %: {{ work; call ‸", "client web"),
    (f"{EVENT} at web {{ one of {{ ‸", "hit late"),
    (f"{EVENT} at web {{ one of {{ hit: work; ‸", "hit late"),
    (f"{EVENT} at web {{ one of {{ hit: work; e‸", "else"),
    (f"{EVENT} at web {{ one of {{ 30 %: wo‸", "work"),
    ("stream s { event hit = ‸", "part"),
    # Nothing in comments and texts that are no file names.
    ("# si‸", ""),
    ('let more = size source "si‸', ""),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a spec in a project: what is above it is shared."""
    project = tmp_path_factory.mktemp("project")
    own = project / "own"
    (own / "sub").mkdir(parents=True)
    (project / "qps.toml").write_text("", encoding="utf-8")
    (project / "shared.qps").write_text("param all = 3\n", encoding="utf-8")
    (own / "parts.qps").write_text("param cost = 3 ms/packet\n", encoding="utf-8")
    (own / "sub" / "more.qps").write_text("param more = 3\n", encoding="utf-8")
    (own / "runs.csv").write_text("N,load\n1,2\n", encoding="utf-8")
    return own


@pytest.mark.parametrize("part", range(_PARTS))
def test_what_is_meant_is_among_the_first(folder: Path, part: int) -> None:
    documents, missed = OpenDocuments(), []
    uri = (folder / "site.qps").as_uri()
    for version, (line, wanted) in enumerate(OFFERED[part::_PARTS]):
        text, at = marked(SPEC + line)
        documents.put(OpenText(uri, version, text))
        of = types.TextDocumentIdentifier(uri)
        items = completion(documents, types.CompletionParams(of, at)).items
        written = text.split("\n")[at.line]
        shown = [
            one.label
            for one in sorted(items, key=lambda one: one.sort_text or "")
            if isinstance(one.text_edit, types.TextEdit)
            and one.label.startswith(
                written[one.text_edit.range.start.character : at.character]
            )
        ]  # fmt: skip
        if set(wanted.split()) - set(shown[:FIRST]) or (shown and not wanted):
            missed.append(f"{line}: {wanted} is not among {shown[:8]}")
    assert not missed, "\n".join(missed)
