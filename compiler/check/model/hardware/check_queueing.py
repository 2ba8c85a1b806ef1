"""How what arrives at a resource waits: the discipline that a machine or network states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.check.model.fits.check_scalability import ScalabilityChecker
from qps.compiler.check.names.scope import Scope
from qps.compiler.check.values.part import DeclarationChecker, whole
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.fixits import instead
from qps.compiler.diagnostics.suggest import listed, offered
from qps.compiler.quantities.dimension import CORE, DIMENSIONLESS, TIME, Dimension
from qps.compiler.quantities.disciplines import DISCIPLINES
from qps.compiler.syntax import ast

_NOT_ACCEPTED = {
    "cv": (
        "coefficient of variation",
        "use it with {takers}; in {exponential} it is 1, in {fixed} 0",
    ),
    "room": (
        "room",
        "use it with {takers}; with `loss`, items that find all cores busy are lost",
    ),
    "speeds": ("speeds", "use it with {takers}"),
    "preemptive": ("preemption", "use it with {takers}"),
    "per": ("period", "use it with {takers}"),
}


class QueueingChecker(DeclarationChecker, frozen=True):
    """Checks what stands behind `queueing`."""

    def of_resource(
        self, name: ast.Name, stated: ast.Queueing, kind: ir.ResourceKind, scope: Scope
    ) -> ir.Queueing | None:
        """Return how work waits for a resource of a machine; None where it does not."""
        queueing = self._checked(stated, scope)
        if queueing is None:
            return None
        if kind is ir.ResourceKind.STORE and queueing.that_waits is None:
            return queueing
        if kind is ir.ResourceKind.STORE:
            self.sink.report(
                codes.MISPLACED,
                queueing.span,
                f"`{name.text}` has a capacity to hold, not a queue",
                hint="set the queueing of a CPU, a rate or a network",
            )
            return None
        if kind is not ir.ResourceKind.PROCESSOR:
            return self._one_server(queueing, f"`{name.text}`")
        return queueing

    def of_network(self, stated: ast.Queueing, scope: Scope) -> ir.Queueing | None:
        """Return how packets wait for a port of a network; None where they do not."""
        queueing = self._checked(stated, scope)
        return None if queueing is None else self._one_server(queueing, "a port of a network")

    def stated(self, wait: ast.Wait, scope: Scope, *, is_link: bool) -> ir.Queueing | None:
        """Return how what arrives waits for resources that a spec names, or for links."""
        queueing = self._checked(wait, scope)
        if queueing is None or not is_link:
            return queueing
        return self._one_server(queueing, "a port of a network")

    def _one_server(self, queueing: ir.Queueing, what: str) -> ir.Queueing | None:
        word, on_one_server = queueing.discipline.value, queueing.traits.on_one_server
        if on_one_server is None:
            return queueing
        self.sink.report(
            codes.MISPLACED,
            queueing.span,
            f"`{word}` needs the cores of a CPU; {what} is a single server",
            hint="write `mm1`: only a CPU has a quota"
            if queueing.period is not None
            else instead(word, on_one_server),
        )
        return None

    def report_speeds(self, queueing: ir.Queueing, name: str) -> None:
        """Report speeds of a processor of which is said that it has several cores."""
        self.sink.report(
            codes.MISPLACED,
            queueing.speeds[0].span.to(queueing.speeds[-1].span),
            f"`{name}` has both cores and speeds",
            hint=f"use one core, and put the speed-up into the speeds: `{name} 1 core, "
            "queueing ps speeds [1, 1.9, 2.7]`",
        )

    def _checked(self, stated: ast.Queueing | ast.Wait, scope: Scope) -> ir.Queueing | None:
        word = stated.discipline.text
        discipline = DISCIPLINES.get(word)
        if discipline is None:
            self.sink.report(
                codes.UNKNOWN_NAME,
                stated.discipline.span,
                f"unknown queueing discipline `{word}`",
                hint=offered(word, DISCIPLINES),
            )
            return None
        if not self._is_accepted(stated, discipline):
            return None
        variation = self._number(stated.variation, scope, "a coefficient of variation")
        speeds = self._speeds(stated, scope)
        capacity = self._number(stated.room, scope, "a queue capacity")
        period = self._number(stated.period, scope, "the period of a quota", TIME)
        host_cores = self._host_cores(stated.host_cores, scope)
        found = ir.Queueing(
            discipline=discipline,
            span=stated.span,
            variation=variation,
            is_preemptive=stated.is_preemptive,
            speeds=speeds or (),
            room=capacity,
            period=period,
            host_cores=host_cores,
        )
        is_whole = all(
            (number is None) == (said is None)
            for number, said in (
                (variation, stated.variation),
                (capacity, stated.room),
                (period, stated.period),
                (host_cores, stated.host_cores),
            )
        )
        return found if is_whole and speeds is not None else None

    def _speeds(
        self, stated: ast.Queueing | ast.Wait, scope: Scope
    ) -> tuple[ir.Quantity, ...] | None:
        """Return the speeds by the number present, listed or fitted; None where one is wrong."""
        fit = stated.fitted_speeds
        if fit is None:
            return whole([self._number(speed, scope, "a speed") for speed in stated.speeds])
        if fit.by is None:
            self.sink.report(
                codes.MISPLACED,
                fit.span,
                "speeds are fitted to the throughput by a number of clients",
                hint=f'name its column: `speeds fit "{fit.file.value}" by threads`',
            )
            return None
        checker = ScalabilityChecker(self.expressions)
        found = checker.station(fit, scope.module)
        return None if found is None else checker.speeds(found, fit)

    def _number(
        self,
        stated: ast.Expr | None,
        scope: Scope,
        what: str,
        dimension: Dimension = DIMENSIONLESS,
    ) -> ir.Quantity | None:
        if stated is None:
            return None
        return self.expressions.quantity(stated, scope, dimension, what)

    def _host_cores(self, stated: ast.Expr | None, scope: Scope) -> ir.Quantity | None:
        """Return the cores of a host, as a plain number."""
        found = self._number(stated, scope, "the number of cores of a host", CORE)
        return found and replace(found, dimension=DIMENSIONLESS, divisors=())

    def _is_accepted(self, stated: ast.Queueing | ast.Wait, discipline: ir.Discipline) -> bool:
        """Return whether a discipline takes what is said of it, and has what it needs."""
        word, traits = discipline.value, discipline.traits
        if traits.variation is None and stated.variation is None:
            self.sink.report(
                codes.BAD_HARDWARE,
                stated.span,
                f"`{word}` needs the variability of service times",
                hint=f"add the coefficient of variation: `queueing {word} cv 1.2`",
            )
            return False
        if "per" in traits.takes and stated.period is None:
            self.sink.report(
                codes.BAD_HARDWARE,
                stated.span,
                f"`{word}` needs the period of the CPU limit, and the cores of the host",
                hint=f"write `queueing {word} per 100 ms on 8 core`: 100 ms is the period of Linux",
            )
            return False
        for option, expr in (
            ("cv", stated.variation),
            ("room", stated.room),
            ("speeds", stated.speeds[0] if stated.speeds else stated.fitted_speeds),
            ("preemptive", stated.discipline if stated.is_preemptive else None),
            ("per", stated.period),
        ):
            if expr is None or option in traits.takes:
                continue
            hint, fix = _NOT_ACCEPTED[option]
            takers = [one for one in ir.Discipline if option in one.traits.takes]
            self.sink.report(
                codes.MISPLACED,
                expr.span,
                f"`{word}` takes no {hint}",
                hint=fix.format(
                    takers=_words(takers), exponential=_words(_served(1)), fixed=_words(_served(0))
                ),
            )
            return False
        return True


def _words(disciplines: Iterable[ir.Discipline]) -> str:
    return listed([one.value for one in disciplines], "and")


def _served(variation: int) -> Iterator[ir.Discipline]:
    """Yield what waits in turn for service times of a variation."""
    for one in ir.Discipline:
        is_in_turn = one.traits.service is ir.Service.IN_TURN and not one.traits.loses
        if is_in_turn and one.traits.variation == variation and one is not ir.Discipline.NONE:
            yield one
