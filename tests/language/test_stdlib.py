"""The standard library: its claims hold, its numbers have sources, its page leaves nothing out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from documents.library import written
from qps.api import loads
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source
from qps.compiler.syntax import ast
from qps.compiler.syntax.parse import parse
from qps.solver.claims.claim_evaluation import Claims
from qps.solver.claims.claim_runner import ClaimRunner
from qps.stdlib import module_names, module_text

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
OUR_OWN = [name for name in module_names() if ".claypool1997." not in name]
CATALOGS = ("std.cloud",)
"""Modules that compute nothing, which have tests below."""
_KINDS = (ast.Let, ast.Func, ast.Network, ast.Machine, ast.Component, ast.Param, ast.Unit)


def _declared(name: str) -> list[ast.Declaration]:
    syntax = parse(Source(name, module_text(name))).value
    assert syntax is not None
    return [item for item in syntax.declarations if isinstance(item, _KINDS)]


@pytest.mark.parametrize("name", OUR_OWN)
def test_every_claim_of_a_module_holds_or_says_why_it_is_missed(name: str) -> None:
    spec = check_source(Source(name, module_text(name))).value
    assert spec is not None
    results = Claims(ClaimRunner(model=spec.model)).results()
    assert [(r.name, r.predicted) for r in results if r.fails] == []
    assert len(results) >= 10 or name in CATALOGS
    assert all(result.source for result in results)


@pytest.mark.parametrize("name", OUR_OWN)
def test_everything_a_module_offers_says_what_it_is(name: str) -> None:
    private = [item.name.text for item in _declared(name) if item.doc is None]
    # the states of a trace by which an estimator is tested are nobody's to use
    assert [word for word in private if not word.startswith("trace_")] == []


@pytest.mark.parametrize("name", OUR_OWN)
def test_every_number_says_where_it_comes_from(name: str) -> None:
    """A doc string names a standard, a paper or a program, or the block above it does."""
    text = module_text(name)
    for item in _declared(name):
        number = re.search(r"\d", item.span.text.partition("=")[2])
        if not isinstance(item, ast.Let) or number is None or item.name.text in OWN_CHOICE:
            continue
        doc, above = item.doc or "", text[: item.span.start].rpartition("# --")[2]
        assert _SOURCE.search(f"{doc} {above}"), item.name.text


_SOURCE = re.compile(
    r"RFC|IEEE|ITU|3GPP|[GYJ]\.\d|issue|(19|20)\d\d|\.(cc|com)|from memory|the same|open-dis|guess"
    r"|Unity|LiveKit|Jitsi|libwebrtc|as named|Pixels"
)
OWN_CHOICE = {"picture_payload", "packets_20ms", "packets_30ms"}


def _sections() -> dict[str, str]:
    parts = re.split(r"^## `(std\.[\w.]+)`$", PAGE, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_the_page_has_a_section_for_each_module() -> None:
    assert set(_sections()) == set(module_names())


@pytest.mark.parametrize("name", module_names())
def test_a_section_names_all_that_a_module_offers_and_has_an_example(name: str) -> None:
    section = _sections()[name]
    listed = set(re.findall(r"`(\w+)(?:\([^`]*\))?`", section))
    offered = {
        item.name.text for item in _declared(name) if not item.name.text.startswith("trace_")
    }
    assert offered - listed == set()
    assert f"use {name}" in section


def test_unverified_numbers_are_marked_in_the_page_too() -> None:
    marked = [
        item.name.text
        for name in OUR_OWN
        for item in _declared(name)
        if item.doc and "from memory" in item.doc
    ]
    assert len(marked) > 20
    assert "from memory, not verified" in PAGE


_OF_TRUST = {  # the blocks of specs/README.md that each class of misses is made of
    "same_load": [
        "other sizes and cpus",
        "rooms",
        "freeswitch",
        "zlmediakit",
        "other levels",
        "mosquitto",
    ],
    "more_cores": ["many cpus"],
    "other_machine": ["other machines", "faster"],
    "other_load": ["other runs", "single flow", "mosquitto at home"],
    "other_server": ["jitsi", "others", "relays", "another server"],
}


@pytest.mark.parametrize("kind", _OF_TRUST)
def test_misses_that_trust_rests_on_are_in_the_list_of_specs(kind: str) -> None:
    output = (ROOT / "specs" / "README.md").read_text(encoding="utf-8")
    claim = module_text("std.trust").partition(f"expect off_{kind} ")[2].partition("\n}")[0]
    misses = [float(off) for off in re.findall(r"miss\((-?[\d.]+) %\)", claim)]
    counted = 0
    for block in _OF_TRUST[kind]:
        found = re.search(
            rf"(?:-->|; ){block}(?: \((\d+)\))? ([+-][\d.]+)(?: to ([+-][\d.]+))? %", output
        )
        assert found, block
        counted += int(found[1] or 1)
        assert {float(end) for end in found.groups()[1:] if end} <= set(misses), block
    assert len(misses) == counted
    assert f"/ {len(misses)})" in claim


def test_the_tables_of_the_page_are_what_the_doc_strings_say() -> None:
    assert written(PAGE) == PAGE, "run `python tests/documents/library.py`"


CLOUD = module_text("std.cloud")
CLOUD_TYPES = re.findall(
    r'"""\w.* (\d+) vCPUs?, ([\d.]+) GiB.*"""\nmachine (\w+) \{\n((?:.+\n)+?)\}', CLOUD
)


def test_types_of_machines_are_what_their_descriptions_say() -> None:
    assert len(CLOUD_TYPES) == CLOUD.count("\nmachine ")
    assert len(CLOUD_TYPES) >= 60
    for cores, memory, name, body in CLOUD_TYPES:
        assert f"cpu {cores} core, queueing mmc\n" in body, name
        assert f"memory {memory} * gib\n" in body, name
        cited = r'source "(?:AWS|Google Cloud|Microsoft Azure), \S+\.\w+/.+, seen \d{4}-\d\d-\d\d"'
        assert re.search(cited, body), name
    assert not re.search("recalled|from memory", CLOUD, re.IGNORECASE)


def test_each_type_of_machine_can_be_a_node() -> None:
    names = [name for _, _, name, _ in CLOUD_TYPES]
    nodes = "; ".join(f"node at_{name} = cloud.{name}" for name in names)
    links = "\n".join(f"link to_{name} = wire between user, at_{name}" for name in names)
    streams = "\n".join(
        f"stream of_{name} for each user {{ traffic 1 request/s, 1 kB/request\n"
        f" at at_{name} {{ work }}\n over to_{name}\n at user {{ }} }}"
        for name in names
    )
    spec = (
        "use std.cloud\nusers N in 1..100_000\nmachine pc { }\n"
        "component work { cpu 1 ms/request; memory 1 MB }\nnetwork wire { propagation 1 ms }\n"
        f"topology {{ node user = pc * N; {nodes}\n{links} }}\n{streams}\n"
    )
    answer = loads(spec).solve()
    limits = {one.name: one.saturates_at for one in answer.resources}
    for cores, memory, name, _ in CLOUD_TYPES:
        assert limits[f"at_{name}.cpu"] == pytest.approx(1000 * int(cores))
        in_memory = float(memory) * 2**30 / 1e6
        assert limits[f"at_{name}.memory"] == pytest.approx(in_memory)
