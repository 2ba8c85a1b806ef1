"""Copies that come together: with how many others each does, and what work these are.

Copies of one call that is made many times at once do by chance what they do, each by itself: some
may be served longer, and some not at all. A copy is one of a larger batch more often than of a
smaller one, so that of N copies each comes with E N(N - 1)/E N others on average.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from qps.engine.expressions.formulas import ZERO, Formula


class Others(Struct, frozen=True, kw_only=True):
    """The copies that come together with one: those of one call, and `of` one point of it.

    They are `count` on average, of which each makes the visit with a chance of `share`; the mean of
    its service time is `work`, without one nothing, and the mean of the square is `square`.
    """

    of: tuple[int, int]
    count: Formula
    share: Formula
    work: Formula = ZERO
    square: Formula = ZERO

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """Their attributes, as `with_formulas` takes them."""
        return (self.count, self.share, self.work, self.square)

    def with_formulas(self, formulas: Sequence[Formula]) -> Others:
        """Return the same of other formulas."""
        count, share, work, square = formulas
        return Others(of=self.of, count=count, share=share, work=work, square=square)

    def changed(self, change: Callable[[Formula], Formula]) -> Others:
        """Return the same with every formula changed."""
        return self.with_formulas([change(one) for one in self.formulas])
