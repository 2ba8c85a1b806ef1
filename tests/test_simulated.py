"""Twenty specs by chance, played: no label is wrong. `python tests/simulated` has a thousand."""

from __future__ import annotations

import pytest

from simulated.judge import judge

_MODELS = 20


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(_MODELS))
def test_no_label_is_wrong(seed: int) -> None:
    found = judge(seed, _MODELS, seconds=0, runs=8)
    assert not found.wrong, "; ".join(map(str, found.wrong))
    assert found.compared or found.refused
