"""Words that QPS no longer says, and where it still says them.

What is read: prose of the documentation, sentences in the code of the product (string literals with
a space, no docstrings), texts of pages and of the playground, and what specs and the library say of
themselves. `python tests/documents/vocabulary.py [PATH…]` prints each place with the word to write.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from documents.code_outline import outline_of_file

ROOT = Path(__file__).resolve().parents[2]
LEFT = Path(__file__).parents[1] / "goldens" / "retired_words.json"
"""How many places each file still has; without a path, the command above writes it."""


class Place(Struct, frozen=True, kw_only=True):
    """Where a retired word stands: a file below the repository, a line from 1, and its text."""

    file: str
    line: int
    text: str
    word: str
    instead: str


RETIRED = (
    (r"tells?|told|telling|untold", "say, report, print, state, determine"),
    (r"carr(?:y|ies|ied|ying)", "support, handle; transport (of a link)"),
    (r"g[ia]ves? out|giving out|given out", "saturates, is the bottleneck"),
    (r"how sure|be sure|is sure|sure of|\d+ % sure|surely", "confidence, interval"),
    (r"play(?:s|ed|ing)?|unplayed|replay(?:s|ed)?", "simulate; play back (of media)"),
    (r"asks? of|asked of", "demand, needs"),
    (r"breaks? next", "next limit"),
    (
        r"full beyond|reached beyond|is full|are full|exactly full",
        "saturates at, reaches its target at",
    ),
    (r"nine times in ten|times of 100|times in 100", "90 % interval"),
    (r"\d+ (?:in|of) 100 within|in a hundred within", "p99"),
    (r"promis(?:e|es|ed|ing)", "capacity at 95 % confidence; guarantee"),
    (r"plan for (?:fewer|less|at most|\{)", "capacity at 95 % confidence"),
    (r"mend(?:s|ed|ing)?", "fix, help"),
    (r"settl(?:e|es|ed|ing)", "converge, decide"),
    (r"so many", "N, that many"),
    (r"(?:in|the) truth", "the true value; may be higher, lower"),
    (r"(?:nobody|somebody|whoever|anybody)", "name the subject"),
    (r"anew", "again"),
    (r"dear(?:er|est)?", "expensive"),
    (r"sorts? of (?:user|request|call|people)s?|of all sorts", "kind, class"),
    (r"(?:is|are|be) loaded|loaded \{|loaded (?:more|less|at)", "utilization is"),
    (r"(?:well|acceptably|later) served|served later", "capacity; latency"),
    (r"users who wait|who waits?|are waited|is waited", "closed population; queueing delay"),
    (r"turn(?:s|ed)? (?:the question )?round", "solve for"),
    (
        r"with(?:out)? (?:something|anything|nothing) fitted|nothing fitted",
        "calibrated, uncalibrated",
    ),
    (r"of the model itself", "internal"),
    (r"would help", "to increase, increase capacity"),
    (r"reliability", "accuracy"),
    (r"in a second", "per second"),
    (r"(?:is|are) awaited", "playback waits for"),
    (r"(?:gamma|weibull) laws?", "distribution"),
    (r"taken (?:as|for) (?:an?|one|independent|equal|their|periodic|simultaneous)", "treated as"),
    (r"at the most|comes? out|broken off|without end", "at most, is, incomplete, infinite"),
    (r"is no (?:time|moment|summary|threshold|share|pattern|point|sample|address)", "is not a"),
    (r"holds? no (?:json|samples|packets|result)", "contains no"),
    (r"fullest of", "busiest of"),
    (
        r"counts? as (?:independent|equal|the longest|simultaneous|exact|visits)",
        "is treated as, is modeled as",
    ),
    (r"combined quality", "quality penalty"),
    (r"response surface|by a surface", "surrogate model"),
    (r"find the same queue", "same queue length"),
    (r"mostly", "main demand"),
    (r"rows? (?:was|were)", "validated: predicted wait was 0.87-1.12x simulated"),
    (r"comes? to (?:\d|\{|the same|nothing)|come to", "equals, totals"),
    (
        r"is no (?:measure|resource|stream|machine|name|number|unit|spec|file|folder)",
        "has no, is not a",
    ),
    (
        (
            r"(?:colour|behaviour|neighbour|favour|honour|labour|flavour|rumour)\w*"
            r"|(?:model|label|travel|cancel|signal|level|channel|total)l(?:ed|ing|er|ers)"
            r"|(?:optimis|minimis|maximis|summaris|normalis|organis|recognis|serialis|visualis"
            r"|generalis|realis|utilis|initialis|analys)(?:e|es|ed|ing|ation|ations)"
            r"|centre|centres|metre|metres|licence|grey|whilst|catalogue|programme|saturation_table"
        ),
        "American spelling",
    ),
)
"""Patterns of whole words, and what stands in their place (docs/glossary.md)."""


def _whole(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.`-])(?:{words})(?![\w`-])", re.IGNORECASE)


_PATTERNS = tuple((_whole(one), say) for one, say in RETIRED)
_ANY = _whole("|".join(one for one, _ in RETIRED))
"""Most texts and lines have none: one search passes them."""

_PROSE = (
    "README.md", "docs/**/*.md", "playground/README.md", "docs/website/**/*.html",
    "specs/**/README.md",
)  # fmt: skip
_CODE = (
    "compiler", "editing", "engine", "grammar", "playground", "reports",
    "reviewing", "simulation", "solver", "src/qps",
)  # fmt: skip
SCRIPTS = ("reports/scripts", "playground/src", "editors/vscode")
_MARKUP = ("reports/templates", "playground/src")
_SPECS = ("specs", "stdlib", "docs")
_JS_TEXT = re.compile(
    r"//[^\n]*|/\*.*?\*/|(?<=[=(,] )/(?:\\.|[^/\\\n])+/[a-z]*|(?<=[(!])/(?:\\.|[^/\\\n])+/[a-z]*"
    r"|(\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)",
    re.DOTALL,
)
_JS_CODE = re.compile(r"\$\{[^{}]*\}|(?<!\$)\{\w+\}")
"""What a text puts in: an expression of a template literal, a value of a phrase."""
_NAMES = re.compile(r'\b(?:id|class|for|href|src)="[^"]*"')
_QPS_TEXT = re.compile(r'("""(?:.*?)"""|"(?:\\.|[^"\\\n])*")|#[^\n]*', re.DOTALL)
_OF_MARKDOWN = re.compile(r'(?<!`)`(?!`)[^`\n]*`|<a id="[^"]*"></a>|\]\([^)\s]*\)')
"""What a page names and does not say: code within a line, old anchors, and where links lead."""
_SKIPPED = ("node_modules", "/generated/", "/dist/", "qps.egg-info", ".venv")


def places(files: Iterable[Path] | None = None) -> list[Place]:
    """Return every place with a retired word."""
    found: list[Place] = []
    for path in files or shown_files():
        for line, text in texts(path):
            found += _in_text(path, line, text)
    return sorted(found, key=lambda place: (place.file, place.line))


def counts(found: Iterable[Place]) -> dict[str, int]:
    """Return how many places each file has."""
    return dict(sorted(Counter(place.file for place in found).items()))


def shown_files() -> list[Path]:
    """Return the files that hold what people read."""
    globs = [*_PROSE, *(f"{one}/**/*.py" for one in _CODE)]
    globs += [*(f"{one}/**/*.js" for one in SCRIPTS), "editors/vscode/src/*.mjs"]
    globs += [f"{one}/**/*.{kind}" for one in _MARKUP for kind in ("html", "jinja")]
    globs += [f"{one}/**/*.qps*" for one in _SPECS]
    found = {path for one in globs for path in ROOT.glob(one)}
    return sorted(p for p in found if not any(part in p.as_posix() for part in _SKIPPED))


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield what a file says to people, with the line where each text begins."""
    if path.suffix == ".py":
        yield from outline_of_file(path).texts
        return
    text = path.read_text(encoding="utf-8")
    match path.suffix:
        case ".js" | ".mjs":
            yield from ((line, _without_code(one)) for line, one in _matches(_JS_TEXT, text))
        case ".qps" | ".txt":
            yield from _matches(_QPS_TEXT, text)
        case ".md":
            yield 1, _OF_MARKDOWN.sub(lambda m: "\n" * m[0].count("\n"), text)
        case _:
            shown = re.sub(r"\{[{%#].*?[}%#]\}", lambda m: "\n" * m[0].count("\n"), text)
            yield 1, _NAMES.sub("", shown) if path.suffix in (".html", ".jinja") else shown


def code_of_script(text: str) -> str:
    """Return a script without its comments and texts; lines stay what they are."""
    return _JS_TEXT.sub(lambda match: "\n" * match[0].count("\n"), text)


def _without_code(text: str) -> str:
    """Return a text of a script without what it puts in: that may be texts with code in them."""
    while (shorter := _JS_CODE.sub("", text)) != text:
        text = shorter
    return text


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, str]]:
    for match in pattern.finditer(text):
        if match[1] and " " in match[1]:
            yield text.count("\n", 0, match.start()) + 1, match[1]


def words_in(line: str) -> list[str]:
    """Return the retired words of a line."""
    return [match[0] for pattern, _ in _PATTERNS for match in pattern.finditer(line)]


def _in_text(path: Path, first: int, text: str) -> Iterator[Place]:
    if not _ANY.search(text):
        return
    for offset, line in enumerate(text.splitlines() or [text]):
        if not _ANY.search(line):
            continue
        for pattern, instead in _PATTERNS:
            for match in pattern.finditer(line):
                yield Place(
                    file=path.relative_to(ROOT).as_posix(),
                    line=first + offset,
                    text=" ".join(line.split())[:160],
                    word=match[0],
                    instead=instead,
                )


if __name__ == "__main__":
    under = [Path(one).resolve() for one in sys.argv[1:]]
    chosen = [p for p in shown_files() if not under or any(p.is_relative_to(u) for u in under)]
    found = places(chosen)
    for one in found:
        print(f"{one.file}:{one.line}: {one.word!r} (write: {one.instead})\n    {one.text}")
    print(f"{len(found):,} places")
    if not under:
        LEFT.write_text(json.dumps(counts(found), indent=0) + "\n", encoding="utf-8")
