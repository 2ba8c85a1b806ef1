"""Traces become specs: as they stand in golden files, which check, hold their claims and solve."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import qps
from qps.cli import main
from traces.small_systems import SYSTEMS
from traces.written_traces import FORMATS, as_text, spans_of

GOLDENS = Path(__file__).parent / "goldens"


def spec_of(folder: Path, name: str, kind: str = "otlp") -> Path:
    """Return the spec that is written from a system's traces."""
    (folder / "traces.json").write_text(as_text(FORMATS[kind](spans_of(SYSTEMS[name]))))
    spec = folder / f"{name}.qps"
    assert main(["observe", "traces", str(folder / "traces.json"), "-o", str(spec)]) == 0
    return spec


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder in which files have short names."""
    monkeypatch.chdir(tmp_path)
    return Path()


@pytest.mark.parametrize("name", SYSTEMS)
def test_specs_are_written_as_before(
    name: str, here: Path, golden: Callable[[Path, str], None]
) -> None:
    golden(GOLDENS / f"{name}.qps", spec_of(here, name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", SYSTEMS)
def test_specs_are_laid_out_and_hold_what_the_traces_say(name: str, here: Path) -> None:
    spec = spec_of(here, name)
    assert main(["fmt", "--check", str(spec)]) == 0
    assert main(["test", str(spec)]) == 0
    assert qps.load(spec).solve().capacity > 0


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("name", sorted(set(SYSTEMS) - {"fork", "routes"}))
def test_all_formats_give_the_same_spec(name: str, kind: str, here: Path) -> None:
    """Instances, which only the resources of OTLP hold here, stand in the others alone."""
    text = spec_of(here, name, kind).read_text(encoding="utf-8")
    assert text == (GOLDENS / f"{name}.qps").read_text(encoding="utf-8")


def test_a_spec_that_exists_is_not_written_over(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec_of(here, "chain")
    assert main(["observe", "traces", "traces.json", "-o", "chain.qps"]) == 2
    assert "`chain.qps` exists, and may hold your answers" in capsys.readouterr().err
