"""The queries of the tree-sitter grammar: what is colored, folded, indented and listed."""

from __future__ import annotations

import re
from collections.abc import Iterable

from generators.tree_sitter import rules
from qps.compiler.check.names.declarations import keyword
from qps.compiler.syntax import ast
from qps.highlighting import vocabulary

_MADE = "; Made by `python editors/generators` of grammar/qps.lark: change that instead.\n"
_NO_OPERATORS = frozenset("(){}[],;:.")

_FIXED = """\
(comment) @comment
(doc_string) @string.documentation
(string) @string
(digits) @number
(time_of_day) @number
(month_or_day) @number
(identifier) @variable

(unit_power (name (identifier) @type))
(rating_unit name: (identifier) @type)
(item_unit name: (identifier) @type)
(derived_unit name: (identifier) @type)
(_ name: (identifier) @type.definition)
(name (identifier) (identifier) @property)
(step (name (identifier) @function .))
(call_step (name (identifier) @function .))
(call (name (identifier) @function .))
"""


_PUNCTUATION = """\
(comparator) @operator
(sign_of_unit) @type
["(" ")" "{" "}" "[" "]"] @punctuation.bracket
["," "." ":"] @punctuation.delimiter
"""

_LOCALS = """
(source_file) @local.scope
[(component) (machine) (network) (func)] @local.scope
(formal . (identifier) @local.definition.parameter)
(_ name: (identifier) @local.definition)
(name . (identifier) @local.reference)
"""


def _texts() -> set[str]:
    """Return what the grammar writes in quotes, but for what is a node by itself."""
    written = [rule for rule in rules().values() if not rule.startswith("token(")]
    texts = {text for rule in written for text in re.findall(r'"([^"]+)"', rule)}
    return texts - set(_words_alone().values())


def _words_alone() -> dict[str, str]:
    """Return the nodes that are one word each: that has no node of its own."""
    found = {name: re.fullmatch(r'"([^"]+)"', rule) for name, rule in rules().items()}
    return {name: match[1] for name, match in found.items() if match}


def _listed(texts: set[str], capture: str) -> str:
    return "[\n" + "".join(f'  "{text}"\n' for text in sorted(texts)) + f"] @{capture}\n"


def _in_braces() -> list[str]:
    """Return the nodes that go over several lines, in braces."""
    return sorted(name for name, rule in rules().items() if '"{"' in rule and name[0] != "_")


def highlights() -> str:
    """Return `highlights.scm`; what stands later counts."""
    words = {text for text in _texts() if re.fullmatch(r"[a-z_]+", text)}
    cases = words & {"average", "least", "largest"}
    operators = {text for text in _texts() if re.fullmatch(r"\W+", text)} - _NO_OPERATORS
    constants = [one for one in vocabulary().constants if one not in cases]
    parts = [
        _MADE,
        _FIXED,
        _listed(words - cases, "keyword"),
        "\n".join(f"({name}) @keyword" for name in sorted(_words_alone())) + "\n",
        _listed(cases, "constant.builtin"),
        _listed(operators, "operator"),
        _PUNCTUATION,
        _one_of_names("call", "function.builtin", vocabulary().functions),
        _one_of_names("reference", "constant.builtin", constants),
    ]
    return "\n".join(parts)


_OF_HELIX = {
    "number": "constant.numeric",
    "property": "variable.other.member",
    "string.documentation": "comment.block.documentation",
    "type.definition": "type",
}
"""What Helix calls otherwise than Neovim and Zed do; its themes know no other name."""


def helix_highlights() -> str:
    """Return `highlights.scm`, with the names that themes of Helix know."""
    return re.sub(r"@([\w.]+)", lambda found: f"@{_OF_HELIX.get(found[1], found[1])}", highlights())


def helix_indents() -> str:
    """Return `indents.scm`, as Helix reads it."""
    nodes = "".join(f"  ({name})\n" for name in _in_braces())
    return f'{_MADE}\n[\n{nodes}] @indent\n\n"}}" @outdent\n'


def helix_rainbows() -> str:
    """Return `rainbows.scm`: brackets that belong together have one color."""
    nodes = "".join(f"  ({name})\n" for name in _in_braces())
    return f'{_MADE}\n[\n{nodes}] @rainbow.scope\n\n["{{" "}}"] @rainbow.bracket\n'


def helix_textobjects() -> str:
    """Return `textobjects.scm`: what `]f`, `]t`, `maf` and the like go to and select."""
    parts = [
        f'({name} "{{" _* @{kind}.inside "}}") @{kind}.around'
        for name, kind in _tags().items()
        if kind in ("class", "function") and name in _in_braces()
    ]
    comments = "(comment) @comment.inside\n(comment)+ @comment.around\n"
    return "\n".join([_MADE, *parts, "", comments])


def _one_of_names(node: str, capture: str, names: Iterable[str]) -> str:
    listed = " ".join(f'"{name}"' for name in names)
    found = f"(({node} (name . (identifier) @{capture} .))"
    return f"{found}\n  (#any-of? @{capture} {listed}))\n"


def folds() -> str:
    """Return `folds.scm`."""
    return (
        f"{_MADE}\n[\n" + "".join(f"  ({name})\n" for name in ["doc", *_in_braces()]) + "] @fold\n"
    )


def indents() -> str:
    """Return `indents.scm`, as Neovim reads it."""
    nodes = "".join(f"  ({name})\n" for name in _in_braces())
    return f'{_MADE}\n[\n{nodes}] @indent.begin\n\n"}}" @indent.branch @indent.end\n'


def _tags() -> dict[str, str]:
    """Return the kinds of definitions that an outline shows, by the rules of the grammar."""
    found = {}
    for kind in ast.named_kinds():
        if kind.presentation.tag:
            names = (keyword(kind), f"{keyword(kind)}_member")
            found |= {name: kind.presentation.tag for name in names if name in rules()}
    return found


def tags() -> str:
    """Return `tags.scm`."""
    lines = [
        f"({name} name: (identifier) @name) @definition.{kind}" for name, kind in _tags().items()
    ]
    return "\n".join([_MADE, *lines, "", "(name . (identifier) @name) @reference.class", ""])


def local_names() -> str:
    """Return `locals.scm`: what is declared, and what refers to it."""
    return f"{_MADE}{_LOCALS}"
