"""Inputs that nobody would write: those that were answered with a fault once, and a few new ones.

`python tests/fuzz --minutes 10` looks for more.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.inputs import Input
from fuzz.running import fault, kept, run_batch

FOUND = Path(__file__).parent / "fuzz" / "found"
_SECONDS = 60.0


@pytest.mark.parametrize("name", sorted(path.name for path in FOUND.iterdir()))
def test_what_was_found_once_is_told_in_words(name: str) -> None:
    found = fault(kept(FOUND / name), _SECONDS)
    assert found is None, found.told


def test_inputs_that_nobody_would_write_are_told_in_words() -> None:
    batch = run_batch(seed=2026, inputs=100, seconds=_SECONDS)
    assert batch.tried["text"] > 10
    assert not batch.findings, batch.findings[0].told


def test_a_fault_is_found_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(source: object) -> None:
        if "stream" in source.text:  # type: ignore[attr-defined]
            raise ValueError("a fault of ours")

    monkeypatch.setattr("fuzz.running.check_source", fail)
    monkeypatch.setattr(
        "fuzz.running.made",
        lambda draw: Input(kind="text", files={"main.qps": b"users N\nstream s {\n}\n" * 20}),
    )
    [finding] = run_batch(seed=1, inputs=2, seconds=_SECONDS).findings
    assert finding.given.files["main.qps"].count(b"\n") <= 1
    assert "a fault of ours" in finding.told
