"""The words of the grammar: which are reserved, and how a token is called in a message."""

from __future__ import annotations

CONTINUING_TOKENS = frozenset(
    [
        "LBRACE",
        "LPAR",
        "LSQB",
        "COMMA",
        "PLUS",
        "MINUS",
        "TIMES",
        "SLASH",
        "COMPARE",
        "EQUAL",
        "COLON",
        "TILDE",
    ]
)
"""Tokens after which a statement cannot end: the line goes on."""

RESERVED = frozenset(
    [
        "and", "as", "at", "between", "by", "else", "if", "in", "not", "or", "quality",
        "single_thread", "then", "to", "with", "within",
    ]
)  # fmt: skip
"""Names that a spec cannot give to things of its own; all other words are free.

Most join expressions, or stand behind one, where a line may go on with them: a name there would be
read as that. `single_thread` may stand alone on such a line. `quality` is the answer in claims,
columns and figures.
"""

CHOICES = frozenset(["on", "off", "unicast", "multicast"])
"""Words that options choose by, which the grammar reads as names."""

TOKEN_CHOICES = {
    "CASE": ("average", "least", "largest"),
    "BARE_CASE": ("average", "least", "largest"),
    "MEDIUM": ("shared", "switched", "duplex"),
    "LINK_PROPERTY": ("rate", "header", "cap", "loss", "propagation", "jitter"),
    "EFFECT": ("keep", "active", "emit", "delay", "drop", "queue", "recover"),
    "QUANTIFIER": ("every", "some", "no"),
    "AT_LEAST_OR_MOST": ("least", "most"),
}
"""Terminals that are one of a few words."""

NO_RESOURCES = frozenset([*TOKEN_CHOICES["EFFECT"], "fitted", "link", "merge", "source"])
"""What no resource can be called: a component, a machine or a target says something else by it."""

NO_KINDS = frozenset(["fitted", "source"])
"""What no kind can be called: among its kinds, a parameter says something else by it."""

NO_UNITS = frozenset(
    [
        "dropping", "every", "fitted", "for", "ideal", "load", "measured", "others", "period",
        "priority", "scaled", "source", "users",
    ]
)  # fmt: skip
"""What no unit can be called: behind a number it is another word."""

TOKEN_WORDS = {
    "NAME": "a name",
    "NUMBER": "a number",
    "DATE": "a date",
    "TIME": "a time",
    "FIT": '`fit "…"`',
    "NOTE": "`note`",
    "FITTED": "`fitted`",
    "MISSED": "`missed`",
    "OUR_OWN": "`model`",
    "ARITHMETIC": "`arithmetic`",
    "LOAD": "`load`",
    "LINKS": "`link`",
    "STRING": "a text in quotes",
    "DOC": 'a doc string ("""...""")',
    "SIGN": "`%` or `$`",
    "COMPARE": "a comparison such as `<=`",
    "PLUS": "`+`",
    "MINUS": "`-`",
    "TIMES": "`*`",
    "SLASH": "`/`",
    "RANGE": "`..`",
    "ARROW": "`->`",
    "TILDE": "`~`",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "COMMA": "`,`",
    "EQUAL": "`=`",
    "COLON": "`:`",
    "DOT": "`.`",
    "CIRCUMFLEX": "`^`",
    "LSQB": "`[`",
    "RSQB": "`]`",
    "CONFIGURATIONS": "`configurations`",
    "LOGARITHMIC": "`log`",
    "DESCENDING": "`descending`",
    "_SEP": "the end of the line",
    "$END": "the end of the file",
}


def in_words(terminal: str) -> str:
    """Return how a message names a terminal of the grammar.

    >>> in_words("LBRACE"), in_words("BETWEEN")
    ('`{`', '`between`')
    """
    if terminal in TOKEN_WORDS:
        return TOKEN_WORDS[terminal]
    return f"`{terminal.strip('_').lower()}`"
