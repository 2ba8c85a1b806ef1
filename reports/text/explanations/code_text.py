"""A code of diagnostics explained: as a terminal shows it, and as plain values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from qps.compiler.diagnostics.code_explanations import CodeExplanation, ExampleFile
from qps.compiler.diagnostics.diagnostic import Severity
from qps.reports.text.layout.colors import Tone, toned
from qps.reports.text.layout.wrapping import wrapped

_TONES = {Severity.ERROR: Tone.MISS, Severity.WARNING: Tone.LIMIT}
_MARKED = re.compile(r" *\| +[\^-]+(?: .*)?")


def explained_text(explanation: CodeExplanation, *, width: int = 80, color: bool = False) -> str:
    """Return the reason of a code, an example that fails, what it prints, and the fix."""
    code, tone = explanation.code, _TONES[explanation.code.severity]
    lines = [toned(f"{code.id} {code.slug} ({code.severity.value})", tone, color=color)]
    lines += wrapped(f"{code.summary[0].upper()}{code.summary[1:]}.", width)
    for paragraph in explanation.why:
        lines += ["", *wrapped(paragraph, width)]
    lines += ["", toned("Example", tone, color=color), *_files(explanation.files)]
    lines += ["", f"  $ {explanation.command}"]
    for number, line in enumerate(explanation.printed.splitlines()):
        is_toned = not number or _MARKED.fullmatch(line)
        lines.append(toned(f"  {line}".rstrip(), tone if is_toned else None, color=color))
    lines += ["", toned("Fix", Tone.ANSWER, color=color)]
    for paragraph in explanation.fix:
        lines += [*wrapped(paragraph, width), ""]
    lines += _changes(explanation, color=color)
    return "\n".join(lines) + "\n"


def explained_json(explanation: CodeExplanation) -> dict[str, object]:
    """Return an explanation as plain values, the fixed example whole."""
    return {
        "schema": "qps/code/2",
        "code": explanation.code.id,
        "name": explanation.code.slug,
        "severity": explanation.code.severity.value,
        "summary": explanation.code.summary,
        "why": list(explanation.why),
        "failing_example": _json_example(explanation.files, explanation.command)
        | {"printed": explanation.printed},
        "fix": list(explanation.fix),
        "fixed_example": _json_example(explanation.fixed_files, explanation.fixed_command)
        | {"change": explanation.change},
    }


def _json_example(files: Sequence[ExampleFile], command: str) -> dict[str, object]:
    return {"command": command, "files": {file.name: file.text for file in files}}


def _files(files: Sequence[ExampleFile]) -> Iterator[str]:
    """Yield the lines of files, with their names where there are several."""
    for number, file in enumerate(files):
        if len(files) > 1:
            yield from [""] * bool(number)
            yield f"  {file.name}:"
        yield from (f"  {line}" for line in file.text.splitlines())


def _changes(explanation: CodeExplanation, *, color: bool) -> Iterator[str]:
    """Yield the lines that are otherwise in the fixed example, or the files that are new."""
    tones = {"-": Tone.MISS, "+": Tone.ANSWER}
    for line in explanation.change.splitlines():
        yield toned(f"  {line}", tones.get(line[:1]), color=color)
    if not explanation.change:
        changed = [
            new
            for new, old in zip(explanation.fixed_files, explanation.files, strict=True)
            if new != old
        ]
        yield from _files(changed)
