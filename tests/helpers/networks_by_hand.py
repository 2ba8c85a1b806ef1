"""Texts whose networks were written by hand, and the declarations that stand before each."""

from __future__ import annotations

from pathlib import Path

BY_HAND = Path(__file__).resolve().parents[1] / "networks_by_hand.txt"
DECLARATIONS = (
    "users" + BY_HAND.read_text(encoding="utf-8").partition("\nusers")[2].partition("\n== ")[0]
)
