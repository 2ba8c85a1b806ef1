"""What is shown beside a declaration: its remarks, and where its number comes from."""

from __future__ import annotations

from qps.compiler.syntax import ast


def remark(remarks: tuple[ast.Remark, ...], kind: str) -> str | None:
    """Return the remarks of a kind, joined."""
    texts = [item.text.value for item in remarks if item.kind == kind]
    return " ".join(texts) if texts else None


def origin(source: ast.Text | None, fitted: ast.Text | None) -> str | None:
    """Return where a number comes from, and what it was chosen to hit."""
    words = [source.value] if source else []
    if fitted:
        words.append(f"fitted: {fitted.value}")
    return "; ".join(words) or None
