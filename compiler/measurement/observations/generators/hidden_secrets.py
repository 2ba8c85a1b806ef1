"""Credentials in what tools write down, such as names of samples with a URL: they are left out.

What is read of a file are its numbers; but names, headings and lines that an error quotes are text
of the file, and are printed or written to a table that others see.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from qps.compiler.measurement.observations.observed_runs import ObservedRuns

HIDDEN = "{hidden}"
_NAMES = (
    r"[\w.-]*(?:passw\w*|pwd|secret|token|api[-_]?key|apikey|credential\w*|auth|sig|signature|"
    r"session(?:_?id)?)"
)
_PATTERNS = (
    (re.compile(r"(?<=//)[^/\s?#@`]+@"), f"{HIDDEN}@"),
    (re.compile(rf"(?i)\b({_NAMES})=[^&\s`\"']+"), rf"\1={HIDDEN}"),
    (
        re.compile(
            r"(?i)\b((?:proxy-)?authorization|(?:set-)?cookie|x-api-key)(\s*[:=]\s*)"
            r"(?:(?:bearer|basic)\s+)?[^\s`,]+"
        ),
        rf"\1\2{HIDDEN}",
    ),
    (re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{8,}"), rf"\1 {HIDDEN}"),
    (
        re.compile(r"\b(?:gh[pousr]|xox[abprs]|sk|pk|rk|glpat)[-_]\w{12,}|\b(?:AKIA|eyJ)\w{12,}"),
        HIDDEN,
    ),
)


def without_secrets(text: str) -> str:
    """Return a text without credentials.

    >>> without_secrets("GET http://me:pw@shop/pay?token=abc&n=1")
    'GET http://{hidden}@shop/pay?token={hidden}&n=1'
    >>> without_secrets("token/s, tokens per second")
    'token/s, tokens per second'
    """
    for pattern, instead in _PATTERNS:
        text = pattern.sub(instead, text)
    return text


def runs_without_secrets(found: ObservedRuns) -> ObservedRuns:
    """Return a table without credentials; that some were left out is noted."""
    headings = tuple(map(without_secrets, found.headings))
    rows = tuple(tuple(map(without_secrets, row)) for row in found.rows)
    notes = tuple(map(without_secrets, found.notes))
    clean = replace(found, headings=headings, rows=rows, notes=notes)
    if clean == found:
        return found
    note = f"warning: credentials in names or addresses were replaced by `{HIDDEN}`"
    return replace(clean, notes=(*notes, note))
