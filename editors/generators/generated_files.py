"""Which files are made, and of what."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from generators import queries
from generators.codemirror import mode
from generators.textmate import grammar
from generators.tree_sitter import grammar_js
from generators.tree_sitter_scanner import patterns_h

EDITORS = Path(__file__).parents[1]
TREE_SITTER = EDITORS / "tree-sitter-qps"
PARSER_MADE_OF = TREE_SITTER / "src" / "made_of.sha256"
"""What `grammar.js` was when tree-sitter made `parser.c` of it: told without tree-sitter."""


def made_files() -> dict[str, str]:
    """Return the texts of all made files by their path below `editors`."""
    return {
        "vscode/syntaxes/qps.tmLanguage.json": grammar(),
        "codemirror/qps.js": mode(),
        "tree-sitter-qps/grammar.js": grammar_js(),
        "tree-sitter-qps/src/patterns.h": patterns_h(),
        "tree-sitter-qps/queries/highlights.scm": queries.highlights(),
        "tree-sitter-qps/queries/folds.scm": queries.folds(),
        "tree-sitter-qps/queries/indents.scm": queries.indents(),
        "tree-sitter-qps/queries/locals.scm": queries.local_names(),
        "tree-sitter-qps/queries/tags.scm": queries.tags(),
        "helix/queries/highlights.scm": queries.helix_highlights(),
        "helix/queries/indents.scm": queries.helix_indents(),
        "helix/queries/locals.scm": queries.local_names(),
        "helix/queries/rainbows.scm": queries.helix_rainbows(),
        "helix/queries/tags.scm": queries.tags(),
        "helix/queries/textobjects.scm": queries.helix_textobjects(),
    }


def parser_is_stale() -> bool:
    """Return whether `parser.c` was made of another `grammar.js`."""
    made_of = PARSER_MADE_OF.read_text(encoding="utf-8").strip() if PARSER_MADE_OF.exists() else ""
    return made_of != grammar_hash()


def grammar_hash() -> str:
    """Return what tells one `grammar.js` from another."""
    return sha256((TREE_SITTER / "grammar.js").read_bytes()).hexdigest()
