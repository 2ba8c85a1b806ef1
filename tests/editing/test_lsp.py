"""`qps lsp` as an editor meets it: one real server, asked over standard input and output."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import psutil
import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from browsers.editor import Editor, editor, marked
from qps.cli import main
from qps.compiler.diagnostics.source import Source
from qps.editing.legend import KINDS
from qps.editing.messages import OpenText, Setting, TextDiagnostics
from qps.editing.open_documents import OpenDocuments
from qps.editing.positions import Positions
from qps.editing.published_diagnostics import text_diagnostics
from qps.editing.references import definition

SPEC = """\
users N in 1..100
param job = 10 ms/packet

machine box { cpu 1 core }
component work { cpu job }
topology { node host = box }
stream flow { traffic N * 2 packet/s; at host { work } }
"""


@pytest.fixture(scope="module")
def ide(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    with editor(tmp_path_factory.mktemp("specs"), {"virtualDocuments": True}) as one:
        yield one
        assert one.reported == []  # nothing failed on the way that was not asked for


def of(uri: str) -> types.TextDocumentIdentifier:
    return types.TextDocumentIdentifier(uri)


def shown(one: types.Diagnostic) -> str:
    at, to = one.range.start, one.range.end
    return f"{at.line}:{at.character}-{to.line}:{to.character} {one.message.splitlines()[0]}"


WRONG = [
    (SPEC, []),
    # The text as it is typed, not the file; the rest of the spec is still looked at.
    (
        SPEC.replace("work }", "wrk }"),
        ["6:48-6:51 unknown component `wrk`"],
    ),
    # Columns are counted in UTF-16, lines end in any way.
    (
        SPEC.replace("users", '"""𝄞"""; users').replace("cpu job", "cpu jb").replace("\n", "\r\n"),
        ["4:21-4:23 unknown name `jb`"],
    ),
    ("x" * 500_000, ["0:0-0:0 the file has 500,000 characters, more than the limit of 400,000"]),
]


@pytest.mark.parametrize(("text", "expected"), WRONG)
def test_mistakes_are_those_of_the_text_as_it_is(
    ide: Editor, text: str, expected: list[str]
) -> None:
    assert [shown(one) for one in ide.wrong(ide.put(text))] == expected


def test_modules_count_as_they_are_open_and_are_looked_at_again(ide: Editor) -> None:
    (ide.folder / "hw.qps").write_text("machine box { cpu 1 core }\n", encoding="utf-8")
    using = 'use "hw.qps" as hw\n' + SPEC.replace("machine box { cpu 1 core }\n", "").replace(
        "= box", "= hw.box"
    )
    spec = ide.put(using, "using.qps")
    assert ide.wrong(spec) == []
    module = ide.put("machine bax { cpu 1 core }\n", "hw.qps")
    assert ide.wrong(module) == []
    assert "`hw.box`" in ide.wrong(spec, lambda found: found != [])[0].message
    # What is wrong in a module is told there, once, though both documents are looked at.
    ide.put("machine box { cpu 1 cores_ }\n", "hw.qps")
    assert [shown(one)[:9] for one in ide.wrong(module, bool)] == ["0:20-0:26"]
    ide.close("hw.qps")  # what is saved holds again
    assert ide.wrong(spec, lambda found: found == []) == []


def test_the_outline_has_what_is_declared_and_what_is_inside(ide: Editor) -> None:
    uri = ide.put(SPEC + "param wrong =\n")
    found = ide.ask(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, types.DocumentSymbolParams(of(uri)))
    values = [(one.name, [inner.name for inner in one.children or ()]) for one in found]
    assert values == [
        ("N", []),
        ("job", []),
        ("box", ["cpu"]),
        ("work", []),
        ("topology", ["host"]),
        ("flow", ["host"]),
    ]


def test_the_layout_is_that_of_fmt_and_touches_what_changes(ide: Editor) -> None:
    uri = ide.put(SPEC.replace("param job = ", "param   job=") + "\n\n")
    options = types.DocumentFormattingParams(
        of(uri), types.FormattingOptions(2, insert_spaces=True)
    )
    edits = ide.ask(types.TEXT_DOCUMENT_FORMATTING, options)
    assert [(e.range.start.line, e.new_text.splitlines()[0]) for e in edits] == [
        (1, "param job = 10 ms/packet")
    ]
    ide.put(SPEC)
    assert list(ide.ask(types.TEXT_DOCUMENT_FORMATTING, options)) == []
    ide.put("param job =\n")
    assert list(ide.ask(types.TEXT_DOCUMENT_FORMATTING, options)) == []  # it has syntax errors


def test_words_have_the_colors_of_what_they_are(ide: Editor) -> None:
    uri = ide.put('# 𝄞\nparam load = 3 ms source "x" # y\nlet twice = 2 * load\nparam =')
    options = types.SemanticTokensParams(of(uri))
    data = ide.ask(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, options).data
    found, line, column = [], 0, 0
    for index in range(0, len(data), 5):
        down, right, length, kind, _ = data[index : index + 5]
        line, column = line + down, right if down else column + right
        found.append(f"{line}:{column}+{length} {KINDS[kind]}")
    assert found == [
        "0:0+4 comment",
        "1:0+5 keyword", "1:6+4 variable", "1:13+1 number", "1:15+2 type", "1:18+6 keyword",
        "1:25+3 string", "1:29+3 comment",
        "2:0+3 keyword", "2:4+5 variable", "2:12+1 number", "2:16+4 variable",
        "3:0+5 keyword",
    ]  # fmt: skip


def test_the_lens_shows_the_answer_of_this_text_or_none(ide: Editor) -> None:
    uri = ide.put(SPEC)
    options = types.CodeLensParams(of(uri))
    (lens,) = ide.ask(types.TEXT_DOCUMENT_CODE_LENS, options)
    assert lens.command.title == "50 users; limited by host.cpu.utilization"
    assert (lens.range.start.line, lens.command.command) == (0, "qps.page")
    ide.put(SPEC.replace("10 ms", "40 ms"))
    waiting = ide._sent(types.TEXT_DOCUMENT_CODE_LENS, options)
    ide.put(SPEC.replace("10 ms", "20 ms"))
    (lens,) = ide.ask(types.TEXT_DOCUMENT_CODE_LENS, options)
    assert lens.command.title == "25 users; limited by host.cpu.utilization"
    with pytest.raises(JsonRpcException, match="the text has changed"):
        waiting.result(0)
    ide.put(SPEC.replace("10 ms", "10 kB"))
    assert list(ide.ask(types.TEXT_DOCUMENT_CODE_LENS, options)) == []


def test_the_lens_shows_the_headline_when_samples_are_solved(ide: Editor) -> None:
    uri = ide.put(SPEC.replace("10 ms/packet", "10 ms/packet +- 20 %"))
    queried = types.CodeLensParams(of(uri))
    reported = []
    for _ in range(4000):
        (lens,) = ide.ask(types.TEXT_DOCUMENT_CODE_LENS, queried)
        reported.append(lens.command.title)
        if "confidence" in reported[-1]:
            break
        ide.run(asyncio.sleep(0.05))
    assert reported[0] == "50 users with nominal inputs; limited by host.cpu.utilization"
    users, _, rest = reported[-1].partition(" ")
    assert rest == "users at 95 % confidence; limited by host.cpu.utilization"
    assert int(users) < 50


def test_the_page_follows_the_text(ide: Editor) -> None:
    uri = ide.put(SPEC.replace("job", "effort"))
    options = types.ExecuteCommandParams("qps.page", [uri])
    address = ide.ask(types.WORKSPACE_EXECUTE_COMMAND, options)["address"]
    of_what_is_at_hand = types.ExecuteCommandParams("qps.page", [])
    assert ide.ask(types.WORKSPACE_EXECUTE_COMMAND, of_what_is_at_hand)["address"] == address
    with urlopen(f"{address}page") as page:
        assert "effort" in page.read().decode()
    ide.put(SPEC.replace("job", "effort =="))
    for _ in range(4000):
        with urlopen(f"{address}state") as state:
            output = state.read().decode()
        if "QPS" in output:
            break
        ide.run(asyncio.sleep(0.05))
    assert '"version": 1' in output  # the last page that could be made, beside what is wrong
    assert "error[QPS0101]" in output


def test_modules_of_the_library_are_documents(ide: Editor) -> None:
    options = types.TextDocumentContentParams("qps-std:/std.net.qps")
    assert "network" in ide.ask(types.WORKSPACE_TEXT_DOCUMENT_CONTENT, options).text
    options = types.TextDocumentContentParams("qps-std:/../../etc/passwd")
    assert ide.ask(types.WORKSPACE_TEXT_DOCUMENT_CONTENT, options).text == ""


def test_a_process_that_dies_is_reported_and_the_next_one_answers(ide: Editor) -> None:
    uri = ide.put(SPEC)
    options = types.DocumentSymbolParams(of(uri))
    server = psutil.Process(ide.client._server.pid)
    workers = [one for one in server.children() if "spawn_main" in " ".join(one.cmdline())]
    min(workers, key=psutil.Process.create_time).kill()  # the one that looks at texts
    try:
        assert len(ide.ask(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, options)) == 6
    except JsonRpcException as result:  # it was at work on this
        assert "ended by itself" in str(result)  # noqa: PT017
    assert len(ide.ask(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, options)) == 6
    assert all("ended by itself" in one for one in ide.reported)
    ide.reported.clear()


def test_without_pygls_the_command_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pygls", None)  # importing it fails, as where it is missing
    assert main(["lsp"]) == 2
    assert 'pip install "pygls>=' in capsys.readouterr().err


@pytest.mark.parametrize(
    "sent",
    [
        b"Content-Length: 100000000000000\r\n\r\n{",
        b"Content-Length: " + b"9" * 500 + b"\r\n\r\n{",
        b"Content-Length: " + b"9" * 5_000 + b"\r\n\r\n{",
        b"x" * 100_000,
    ],
    ids=["100 TB", "500 digits", "5,000 digits", "no header"],
)
def test_what_is_too_large_is_refused_before_it_is_read(sent: bytes) -> None:
    command = [sys.executable, "-m", "qps", "lsp"]
    found = subprocess.run(command, input=sent, capture_output=True, check=False, timeout=120)
    assert found.returncode == 2
    assert b"the language server stopped" in found.stderr
    assert b"fault" not in found.stderr


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_places_go_to_the_editor_and_back(encoding: str) -> None:
    text = "aé𝄞b\n\n  ü𝄞𝄞 end"
    places = Positions(Source("t", text), encoding)
    codec = encoding if encoding == "utf-8" else f"{encoding}-le"
    width = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    for offset in range(len(text) + 1):
        place = places.position(offset)
        line = text[:offset].rpartition("\n")[2]
        assert place == types.Position(text[:offset].count("\n"), len(line.encode(codec)) // width)
        assert places.offset(place) == offset
    assert places.offset(types.Position(0, 99)) == 4  # the end of the line
    assert places.offset(types.Position(99, 0)) == len(text)


NAMES = """\
use "parts.qps" as parts
unit job
users N in 1..100
param size = 2 kB/job source "a book"
let twice = size * 2
machine box { cpu 1 core }
component work { cpu parts.cost * 1 packet/job }
topology { node web = box }
stream flow { traffic N * 3 jobs/s, twice; at web { work } }
require { web.cpu.load <= 80 %; flow.latency <= 1 s }
"""
PARTS = "param cost = 3 ms/packet\n"


@pytest.fixture(scope="module")
def names(ide: Editor) -> str:
    ide.put(PARTS, "parts.qps")
    return ide.put(NAMES, "names.qps")


def place(text: str, part: str = "") -> types.Position:
    """Return where a part of a text stands in it, which is there once."""
    assert NAMES.count(text) == 1, text
    before = NAMES[: NAMES.index(text) + text.index(part or text)]
    return types.Position(before.count("\n"), len(before.rpartition("\n")[2]))


def reported(found: Iterator[types.Location]) -> list[str]:
    return [f"{one.uri.rpartition('/')[2]}:{one.range.start.line}" for one in found]


@pytest.mark.parametrize(
    ("text", "part", "declared", "places"),
    [
        ("size * 2", "", ["names.qps:3"], [3, 4]),
        ("web.cpu.load", "web", ["names.qps:7"], [7, 8, 9]),
        ("web.cpu.load", "cpu", ["names.qps:5"], [5, 6, 9]),
        ("jobs/s", "", ["names.qps:1"], [1, 3, 6, 8]),
        ("parts.cost", "cost", ["parts.qps:0"], [0, 6]),
        ("parts.cost", "parts", ["parts.qps:0"], [0, 6]),
        ("80 %", "80", [], []),
    ],
)
def test_names_lead_to_what_declares_them_and_back(
    ide: Editor, names: str, text: str, part: str, declared: list[str], places: list[int]
) -> None:
    at = place(text, part)
    found = ide.ask(types.TEXT_DOCUMENT_DEFINITION, types.DefinitionParams(of(names), at))
    assert reported(found) == declared
    context = types.ReferenceContext(include_declaration=True)
    options = types.ReferenceParams(context=context, text_document=of(names), position=at)
    found = ide.ask(types.TEXT_DOCUMENT_REFERENCES, options) or ()
    assert sorted(one.range.start.line for one in found) == places


def test_a_declaration_is_found_in_the_texts_that_use_its_file(ide: Editor, names: str) -> None:
    elsewhere = 'use "parts.qps" as p\nlet twice = p.cost * 2\n'  # in a file that is not open
    (ide.folder / "closed.qps").write_text(elsewhere, encoding="utf-8")
    (ide.folder / "parts.qps").write_text(PARTS, encoding="utf-8")
    at, parts = types.Position(0, 7), ide.uri("parts.qps")
    options = types.RenameParams(text_document=of(parts), position=at, new_name="price_")
    changes = ide.ask(types.TEXT_DOCUMENT_RENAME, options).changes
    edits = {
        uri.rpartition("/")[2]: [(e.range.start.line, e.range.start.character) for e in edits]
        for uri, edits in changes.items()
    }
    assert edits == {"parts.qps": [(0, 6)], "names.qps": [(6, 27)], "closed.qps": [(1, 14)]}


@pytest.mark.parametrize(
    ("text", "new", "edits"),
    [
        ("web.cpu.load", "host", ["host"] * 3),
        ("jobs/s", "query", ["query", "query", "query", "queries"]),
        ("80 %", "eighty", "this is not a name"),
        ("twice; at", "size", "`size` is declared already, as a parameter"),
        ("twice; at", "2x", "`2x` is not a name"),
        ("twice; at", "with", "`with` is a reserved word"),
        ("latency", "delay", "`latency` is a reserved word"),
    ],
)
def test_a_name_changes_everywhere_or_not_at_all(
    ide: Editor, names: str, text: str, new: str, edits: list[str] | str
) -> None:
    options = types.RenameParams(text_document=of(names), position=place(text), new_name=new)
    if isinstance(edits, str):
        with pytest.raises(JsonRpcException, match=edits):
            ide.ask(types.TEXT_DOCUMENT_RENAME, options)
        return
    changes = ide.ask(types.TEXT_DOCUMENT_RENAME, options).changes
    assert sorted(edit.new_text for edit in changes[names]) == sorted(edits)


@pytest.mark.parametrize(
    ("text", "part", "parts"),
    [
        ("size * 2", "", ["**size**, a parameter", "= **2 kB/job**", "source: a book"]),
        ("N * 3", "N", ["**N**, a population", "users N in 1..100"]),
        ("twice; at", "", ["**twice**, a let", "= **4 kB/job**"]),
        ("parts.cost", "cost", ["**cost**, a parameter of", "= **3 ms/packet**"]),
        ("1 s }", "s", ["**s**, a unit: s"]),
        ("web.cpu.load", "web", ["**web**, a node", "node web = box"]),
    ],
)
def test_hover_shows_what_is_known_of_a_name(
    ide: Editor, names: str, text: str, part: str, parts: list[str]
) -> None:
    options = types.HoverParams(of(names), place(text, part))
    shown = ide.ask(types.TEXT_DOCUMENT_HOVER, options).contents.value
    assert [part for part in parts if part not in shown] == [], shown


@pytest.mark.parametrize(
    ("line", "offered", "not_offered"),
    [
        ("par‸", {"param"}, {"size", "node"}),
        ("let more = si‸", {"size", "twice", "N", "parts", "max"}, {"web", "box", "param"}),
        ("let more = parts.‸", {"cost"}, {"size"}),
    ],
)
def test_what_may_stand_here_is_offered(
    ide: Editor, names: str, line: str, offered: set[str], not_offered: set[str]
) -> None:
    text, at = marked(NAMES + line)
    ide.put(text, "names.qps")
    found = ide.ask(types.TEXT_DOCUMENT_COMPLETION, types.CompletionParams(of(names), at))
    labels = {one.label for one in found.items}
    assert offered - labels == set()
    assert not_offered & labels == set()


def test_a_fix_is_an_action_that_leaves_nothing_wrong(ide: Editor) -> None:
    text = SPEC.replace("work }", "wrok }")
    uri = ide.put(text)
    (wrong,) = ide.wrong(uri)
    context = types.CodeActionContext(diagnostics=[wrong])
    options = types.CodeActionParams(of(uri), wrong.range, context)
    (action,) = ide.ask(types.TEXT_DOCUMENT_CODE_ACTION, options)
    assert (action.title, action.is_preferred) == ("write `work`", True)
    (edit,) = action.edit.changes[uri]
    assert (edit.range, edit.new_text) == (wrong.range, "work")
    elsewhere = types.Range(types.Position(0, 0), types.Position(0, 1))
    options = types.CodeActionParams(of(uri), elsewhere, context)
    assert list(ide.ask(types.TEXT_DOCUMENT_CODE_ACTION, options)) == []


def test_hints_show_computed_values_and_utilizations(ide: Editor) -> None:
    uri = ide.put(SPEC + "let twice = job * 2\nlet all = job * N\n")
    whole = types.Range(types.Position(0, 0), types.Position(99, 0))
    options = types.InlayHintParams(of(uri), whole)
    hints = ide.ask(types.TEXT_DOCUMENT_INLAY_HINT, options)
    values = [(one.position.line, one.label) for one in hints]
    ends = "= 10 ms/packet … 1 s/packet"  # of the population
    assert values == [
        (4, "= 10 ms/packet"), (6, "= 2 packets/s … 200 packets/s"),
        (7, "= 20 ms/packet"), (8, ends), (5, "cpu 100 %"),
    ]  # fmt: skip
    assert "at N = 50" in hints[-1].tooltip
    hover = types.HoverParams(of(uri), types.Position(5, 17))  # a node: what it comes to
    values = ide.ask(types.TEXT_DOCUMENT_HOVER, hover).contents.value
    assert "at N = 50:\n- host.cpu.utilization: 100 %, limit 100 %" in values
    ide.put(SPEC)  # nothing is told of it before it is solved
    assert "N = 50" not in ide.ask(types.TEXT_DOCUMENT_HOVER, hover).contents.value


def test_the_library_is_read_only_where_an_editor_knows_no_documents_of_ours(
    tmp_path: Path,
) -> None:
    text = "use std.net as net\nnetwork lan = net.ethernet\n"
    documents = OpenDocuments(library=tmp_path)
    documents.put(OpenText("untitled:one", 1, text))
    at = types.Position(1, 20)
    options = types.DefinitionParams(of("untitled:one"), at)
    (found,) = definition(documents, options)
    copy = tmp_path / "std.net.qps"
    assert found.uri.casefold() == copy.as_uri().casefold()  # of a drive, too: C:, c:
    assert "ethernet" in copy.read_text(encoding="utf-8").splitlines()[found.range.start.line]
    assert copy.stat().st_mode & 0o222 == 0
    documents.set(Setting())
    assert definition(documents, options)[0].uri == "qps-std:/std.net.qps"


def test_errors_are_reported_early_and_that_there_are_none_at_the_end() -> None:
    values: list[TextDiagnostics] = []
    documents = OpenDocuments()
    documents.notify = values.append
    for version, text in enumerate((SPEC.replace("cpu job", "cpu jb"), SPEC)):
        documents.put(OpenText("untitled:one", version, text))
        found = text_diagnostics(documents, "untitled:one").found
        assert [one.found for one in values] == ([found] if version == 0 else [])
        values.clear()
