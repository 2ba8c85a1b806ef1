"""What is recovered of what transmission has lost, and what is lost of items of several kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec.structs import replace

from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.response_time.response_parts import LossKind, LossPart
from qps.engine.expressions.formulas import ONE, Formula, apply, product


def recovery(stage: str, losses: Iterable[LossPart], share: Formula, span: Span) -> LossPart:
    """Return a stage that restores a share of what transmission has lost so far."""
    lost = (part.value for part in losses if part.kind is LossKind.TRANSMISSION)
    return LossPart(
        stage=stage,
        kind=LossKind.TRANSMISSION,
        value=restoring(lost, share),
        span=span,
        restored=share,
    )


def restoring(lost: Iterable[Formula], share: Formula) -> Formula:
    """Return the loss, below zero, of a stage that restores a share q of what was lost before.

    A loss L becomes L (1 - q): of 1 - L that reach the stage it makes 1 - L (1 - q).
    """
    reaching = product(1 - value for value in lost)
    leaving = 1 - (1 - reaching) * (1 - share)
    return 1 - leaving / reaching


def averaged_losses(
    losses: Iterable[LossPart], mean: Callable[[Formula], Formula]
) -> list[LossPart]:
    """Return stages of which each loses, of all kinds together, a part of what reaches it.

    What is left of all is the mean over the kinds of what is left of each: who loses much at one
    stage may lose much at the next.
    """
    found: list[LossPart] = []
    inside: Formula = ONE
    left: Formula = ONE
    for part in losses:
        inside = inside * (1 - part.value)
        now = mean(inside)
        value = part.value if now is inside else apply("mean", left - now, left)
        restored = part.restored and mean(part.restored)
        found.append(replace(part, value=value, restored=restored))
        left = now
    return found
