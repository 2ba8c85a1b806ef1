"""The tables of docs/library.md, written from the doc strings of the standard library.

`python tests/documents/library.py` writes them into the page; a test compares.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "library.md"
_TABLE = re.compile(r"(<!-- offers (std\.[\w.]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def offers(name: str) -> str:
    """Return a table of what a module offers: each declaration, and what its doc string says."""
    from qps.compiler.diagnostics.source import Source
    from qps.compiler.syntax import ast
    from qps.compiler.syntax.parse import parse
    from qps.stdlib import module_text

    syntax = parse(Source(name, module_text(name))).value
    assert syntax is not None
    lines = ["| Name | Meaning |", "|---|---|"]
    for item in syntax.declarations:
        kinds = (ast.Let, ast.Func, ast.Network, ast.Machine, ast.Component, ast.Param, ast.Unit)
        if not isinstance(item, kinds) or item.name.text.startswith("trace_"):
            continue
        formals = getattr(item, "formals", ())
        called = ", ".join(formal.span.text for formal in formals)
        shown = f"{item.name.text}({called})" if formals else item.name.text
        text = " ".join((item.doc or _in_short(item)).split()).replace("|", "\\|")
        lines.append(f"| `{shown}` | {text} |")
    return "\n".join(lines) + "\n"


def _in_short(item: object) -> str:
    return f"a {type(item).__name__.lower()}"


def written(text: str) -> str:
    """Return the page with its tables as the doc strings have them."""
    return _TABLE.sub(lambda m: f"{m[1]}{offers(m[2])}{m[3]}", text)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "src"))
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)} written")
