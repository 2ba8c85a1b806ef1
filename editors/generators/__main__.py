"""`python editors/generators` writes all made files, and tells which of them have changed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "src")]

from generators.generated_files import (  # found only now
    EDITORS,
    PARSER_MADE_OF,
    TREE_SITTER,
    grammar_hash,
    made_files,
    parser_is_stale,
)

for name, text in made_files().items():
    path = EDITORS / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
        print(f"editors/{name} written")

if parser_is_stale():
    if shutil.which("tree-sitter") is None:
        sys.exit(
            "grammar.js has changed: parser.c is made of it by tree-sitter, which is not installed "
            "(`cargo install tree-sitter-cli --version 0.27.1 --locked`, five minutes)"
        )
    subprocess.run(["tree-sitter", "generate"], cwd=TREE_SITTER, check=True)
    PARSER_MADE_OF.write_text(f"{grammar_hash()}\n", encoding="utf-8")
    print("editors/tree-sitter-qps/src/parser.c written")
