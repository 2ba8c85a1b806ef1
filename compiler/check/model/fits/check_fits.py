"""Costs that a spec takes from a table of measurements: `cpu fit "turn.csv"`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.check.model.fits.fit_clauses import FitClauses
from qps.compiler.check.model.fits.fit_quantities import (
    along_curve,
    curve_number,
    fit_terms,
    fitted_idle,
    fitted_number,
    multiplied,
    shown_curve,
    shown_demand,
)
from qps.compiler.check.model.fits.fit_units import unit_reader
from qps.compiler.check.model.fits.proportional_rates import proportional_rates
from qps.compiler.check.names.declarations import LoadedModule
from qps.compiler.check.names.scope import Scope
from qps.compiler.check.values.part import DeclarationChecker
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.fixits import insertion_after_hint
from qps.compiler.diagnostics.suggest import listed
from qps.compiler.measurement.bending import Bend, bend_of
from qps.compiler.measurement.cost_products import CostCurve, CostProduct, item_word
from qps.compiler.measurement.fit_columns import CORES, FitColumns
from qps.compiler.measurement.fit_spread import fit_spread
from qps.compiler.measurement.fits import CostFit, fitted
from qps.compiler.measurement.measured_tables import MOST_RUNS, DataError, read_table
from qps.compiler.measurement.regression import Coefficient, Regression, Residual, regression
from qps.compiler.measurement.rescaled_fits import rescaled
from qps.compiler.syntax import ast

IDLE_SHOWN = Fraction(1, 1000)
"""Load of an idle machine from which it makes a difference to an answer."""
_MUCH_LEFT = 0.5
"""Part of the squared error without a row, above which the row is not what is wrong."""
_NOTHING_LEFT = 1e-9


class FitChecker(DeclarationChecker, frozen=True):
    """Reads the tables that costs are fitted to, each once for a resource."""

    def fit(self, item: ast.Fit, reading: FitColumns, scope: Scope) -> CostFit | None:
        """Return the costs that fit a table, or None where it was reported."""
        read = FitClauses(self.expressions).reading(item, reading, scope)
        return None if read is None else self._fit(item, read, scope.module)

    def _fit(self, item: ast.Fit, reading: FitColumns, module: LoadedModule) -> CostFit | None:
        source = module.syntax.source
        onto = "" if item.onto is None else f"\0{item.onto.value}"
        path = f"{source.folder}\0{item.file.value}{onto}"
        fits, resource = self.known.fits, reading.resource or ""
        if (path, reading) not in fits:
            with_fit = [(file, of.resource or "") for (file, of), fit in fits.items() if fit]
            found = fits[path, reading] = self._read(item, reading, module)
            if found is not None and (path, resource) not in with_fit:
                self._warn(found if found.scale is None else found.scale.unscaled, item)
        found = fits[path, reading]
        if found is not None:
            self.known.fitted[item.span] = found
        return found

    def _read(self, item: ast.Fit, reading: FitColumns, module: LoadedModule) -> CostFit | None:
        text = self.expressions.context.data(item.file, module.syntax.source)
        if text is None:
            return None
        try:
            table, own = read_table(text, item.file.value, MOST_RUNS), reading
            if item.onto is not None and CORES in table.headings:
                own = replace(reading, cores=None, processors=None)  # of another machine
            found = fitted(table, own, unit_reader(module))
            if found.fixed < 0:
                found = fitted(table, replace(own, has_fixed=False), unit_reader(module))
        except DataError as error:
            self.sink.report(codes.BAD_DATA, item.file.span, error.message, hint=error.hint)
            return None
        if not self._is_sound(found, item):
            return None
        return found if item.onto is None else self._rescaled(found, item.onto, reading, module)

    def _rescaled(
        self, fit: CostFit, onto: ast.Text, reading: FitColumns, module: LoadedModule
    ) -> CostFit | None:
        """Return a fit scaled to runs of the machine that it is used for."""
        text = self.expressions.context.data(onto, module.syntax.source)
        if text is None:
            return None
        try:
            return rescaled(fit, read_table(text, onto.value), reading, unit_reader(module))
        except DataError as error:
            self.sink.report(codes.BAD_DATA, onto.span, error.message, hint=error.hint)
            return None

    def _is_sound(self, fit: CostFit, item: ast.Fit) -> bool:
        """Report a cost below zero: more work cannot mean less load."""
        below = below_zero(fit)
        if not below:
            return True
        statistics = regression(fit)
        hint = f"`{fit.command}` shows the residuals; {negative_cost_help(statistics)}"
        message = f"{below[0]} fitted to `{fit.file}` is negative"
        self.sink.report(codes.BAD_DATA, item.file.span, message, hint=hint)
        return False

    # -- its numbers -----------------------------------------------------------------------

    def terms(
        self, fit: CostFit, item: ast.Fit, source: str | None, factors: Mapping[str, ir.Quantity]
    ) -> tuple[ir.Quantity, ...]:
        """Return the coefficients of a fit as addends of a cost.

        Those that are per several columns are multiplied by the `factors`, what the spec has of
        these columns.
        """
        found = zip(fit.terms, fit_terms(fit, item.span), strict=True)
        costs = []
        of_curve = fit.has_fixed + len(fit.terms)
        for index, (term, amount) in enumerate(found, start=fit.has_fixed):
            number = self._number(fit, index, replace(amount, source=source), f".{term.name}")
            cost = multiplied(number, term, factors)
            if term.curve is not None:
                own = replace(curve_number(term.curve, item.span), source=source)
                word = f".{term.name}.{term.curve.word}"
                own = self._number(fit, of_curve, own, word, is_shape=True)
                cost = along_curve(cost, own, term.curve, factors)
                of_curve += 1
            costs.append(cost)
        return tuple(costs)

    def idle(self, fit: CostFit, item: ast.Fit) -> ir.Quantity:
        """Return the fixed part of a fit as the idle load of a machine."""
        idle = fitted_idle(fit, item.span)
        return self._number(fit, 0, idle) if fit.has_fixed else idle

    def _number(
        self,
        fit: CostFit,
        index: int,
        found: ir.Quantity,
        word: str = "",
        *,
        is_shape: bool = False,
    ) -> ir.Quantity:
        """Return a fitted number as what it may be, where the table shows that."""
        spread = fit_spread(fit) if fit.scale is None else fit.scale
        if spread is None:
            return found
        return fitted_number(
            self.expressions,
            found,
            word,
            weights=spread.weights[index],
            freedom=spread.freedom,
            noise=spread.noise,
            table=f"{fit.file}\0{fit.of}",
            is_shape=is_shape,
        )

    # -- what makes a fit doubtful ---------------------------------------------------------

    def _warn(self, fit: CostFit, item: ast.Fit) -> None:
        statistics, span = regression(fit), item.file.span
        show = f"`{fit.command}` shows all residuals"
        worst, bend = statistics.worst, bend_of(fit)
        if bend is not None:
            text = bend_text(fit, bend)
            if not fit.has_fixed:
                text += "; a line is below zero without load, so the fit has no idle utilization"
            hint = UPWARD_HINT if bend.is_upward else DOWNWARD_HINT
            self.sink.report(codes.BENDING_LOAD, span, text, hint=hint)
        elif worst is not None:
            self.sink.report(
                codes.POOR_FIT,
                span,
                f"poor fit to `{fit.file}`: line {worst.line} measured "
                f"{_percent(worst.measured)}, fitted {_percent(worst.fitted)}",
                notes=[pull_text(statistics.pulling[0])] if statistics.pulling else [],
                hint=f"check the table for errors and for another cause of utilization; {show}",
            )
        unsure = [c for c in statistics.coefficients if c.item is not None and c.may_be_zero]
        if unsure:
            self.sink.report(
                codes.UNCERTAIN_COST,
                span,
                (
                    f"{' and '.join(map(coefficient_name, unsure))} fitted to `{fit.file}` "
                    f"{'is' if len(unsure) == 1 else 'are'} not significantly above zero: "
                )
                + ", ".join(map(_interval, unsure)),
                hint=f"measure runs with a wider range of this rate, or remove the column; {show}",
            )
        if statistics.degrees_of_freedom == 0:
            count = len(statistics.coefficients)
            rows, numbers = (
                f"{count} {word}{'s' * (count > 1)}" for word in ("distinct row", "fitted value")
            )
            self.sink.report(
                codes.NO_SPREAD,
                span,
                f"`{fit.file}` has only {rows} for {numbers}: their intervals assume the noise of "
                "other tables",
                hint="measure another run, so that the table shows its own noise",
            )
        if fit.missed_rates:
            self.sink.report(codes.UNUSED_RATE, span, missed_text(fit), hint=MISSED_HINT)

    def _same_idle(self, fit: CostFit, machine: str) -> str:
        """Return the hint to give a machine the idle load that a fit has found."""
        idle = f"idle {fit.clause}"
        hint = (
            f"add the same fit to machine `{machine}`: `{fit.resource} …, {idle}`, or set "
            "its own, such as `idle 0 %`"
        )
        for declared in self.main.syntax.every(ast.Machine):
            for resource in declared.resources if declared.name.text == machine else ():
                if resource.name.text == fit.resource:
                    return insertion_after_hint(resource.span, f", {idle}", text=hint)
        return hint

    def idle_dropped(self, fit: CostFit, machine: str, item: ast.Fit) -> None:
        """Warn of a fitted idle load that the machine does not have."""
        if fit.fixed < IDLE_SHOWN:
            return
        self.sink.report(
            codes.IDLE_DROPPED,
            item.span,
            f"the fit to `{fit.file}` contains {_percent(float(fit.fixed))} idle utilization, "
            f"but `{machine}` declares none: the capacity is too high",
            hint=self._same_idle(fit, machine),
        )

    def idle_of_another(self, fit: CostFit, machine: str, item: ast.Fit) -> None:
        """Warn of an idle load that another fit to the same table has."""
        idle = fit.clause if fit.has_fixed else "0 %"
        self.sink.report(
            codes.IDLE_DROPPED,
            item.span,
            f"the idle utilization of `{machine}` is that of another fit to `{fit.file}`, with "
            "other numbers",
            hint=f"write the same in the machine: `idle {idle}`",
        )


MISSED_HINT = (
    "use a heading with a known unit, such as `packet/s` or `MB/s`, declare your own with "
    "`unit update`, or remove the column"
)


UPWARD_HINT = (
    "contention or saturation makes items more expensive: fit to runs near your target "
    "utilization, or measure a closed load test and fit it by the number of its clients, "
    '`fit "runs.csv" by threads`'
)
DOWNWARD_HINT = (
    "batching makes items cheaper at high rates: fit to runs near your target utilization, or fit "
    "the curve: `per request * power(rate)` (`wakeups(rate)` if threads wake up for items)"
)


def bend_text(fit: CostFit, bend: Bend) -> str:
    """Return how utilization bends."""
    one = f"an additional {item_word(fit.terms[0].item)}" if len(fit.terms) == 1 else "more work"
    if bend.is_upward:
        times = _times(bend.high, bend.low)
        return (
            f"utilization in `{fit.file}` bends upward: {one} takes {times} processor time "
            "at the highest measured rates as at the lowest"
        )
    times = _times(bend.low, bend.high)
    return (
        f"utilization in `{fit.file}` bends downward: {one} takes {times} processor time "
        "at the lowest measured rates as at the highest"
    )


def _times(more: float, less: float) -> str:
    """Return how many times as much something is, where that is a number of any use."""
    many = 10
    return (
        f"{more / less:.2g} times as much"
        if 0 < more < many * less
        else "at least ten times as much"
    )


def missed_text(fit: CostFit) -> str:
    """Return which columns look like rates and were not used."""
    one = len(fit.missed_rates) == 1
    verb = "looks like a rate and is" if one else "look like rates and are"
    named = listed(fit.missed_rates, "and")
    return f"column{'s' * (not one)} {named} of `{fit.file}` {verb} not used"


def below_zero(fit: CostFit) -> list[str]:
    """Return the names of the fitted numbers that cannot be: those below zero."""
    named = [("the idle utilization", fit.fixed)]
    named += [(f"the service demand per {term.cost.written}", term.value) for term in fit.terms]
    return [name for name, value in named if value < 0]


def negative_cost_help(regression: Regression) -> str:
    """Return what to do about a number below zero."""
    if (pair := proportional_rates(regression.fit)) is not None:
        one, other, spread = pair
        written = [term.cost.written for term in regression.fit.terms]
        others = [cost for cost in written if cost not in (one, other)]
        return (
            f"the rates of `{one}` and `{other}` are proportional (within {100 * spread:.2g} %), "
            "so that their service demands cannot be separated: fit one of them, "
            f"`{_command_for(regression.fit, [one, *others])}`"
        )
    unfixed = f"fit without an intercept: `{regression.fit.command} --no-fixed`"
    below = [c for c in regression.coefficients if c.value < 0 and not c.is_of_curve]
    if below and all(c.item is None and -c.value < (c.half_width or 0) for c in below):
        return (
            f"it is not significantly different from zero: {unfixed}"  # no row is to blame for that
        )
    if regression.pulling:
        return f"{pull_text(regression.pulling[0])}: check it first"
    if regression.fit.fixed < 0:
        return f"{unfixed}; or measure again"
    others = [term.cost.written for term in regression.fit.terms if term.value >= 0]
    if not others:
        return "measure again"
    command = _command_for(regression.fit, others)
    return f"measure again, or fit the other demands alone: `{command}`"


def _command_for(fit: CostFit, costs: Sequence[str]) -> str:
    """Return the command that fits these costs alone."""
    base = fit.command.partition(" --per ")[0]
    flags = "".join(f" --per '{cost}'" for cost in costs)
    return f"{base}{flags}{' --no-fixed' * (not fit.has_fixed)}"


def pull_text(row: Residual) -> str:
    """Return how a row pulls the numbers."""
    text = f"line {row.line} is an influential outlier (Cook's distance {row.pull or 0.0:.3g})"
    left = row.remaining
    if left is None or left > _MUCH_LEFT:
        return text
    closer = f"{left**-0.5:.2g} times as closely" if left > _NOTHING_LEFT else "exactly"
    return f"{text}; without it, the other rows fit {closer}"


def coefficient_name(coefficient: Coefficient) -> str:
    """Return what a fitted number is called in a message."""
    if coefficient.item is None:
        return "the idle utilization"
    if coefficient.is_of_curve and coefficient.curve is not None:
        return f"the {coefficient.curve.word} of `{coefficient.curve.name}`"
    return f"the service demand per {_per(coefficient)}"


def _per(coefficient: Coefficient) -> str:
    """Return what a demand is per, as a spec writes it."""
    assert coefficient.item is not None
    factors = tuple((one.name, one.exponent) for one in coefficient.factors)
    curve = coefficient.curve
    along = None if curve is None else CostCurve(curve.kind, curve.name)
    return CostProduct(coefficient.item, factors, along).written


def _interval(coefficient: Coefficient) -> str:
    scale, unit = shown_coefficient(coefficient)
    value, width = (
        f"{number * scale:.3g}" for number in (coefficient.value, coefficient.half_width or 0.0)
    )
    return f"{value} ± {width} {unit} (95 %)"


def shown_coefficient(coefficient: Coefficient) -> tuple[float, str]:
    """Return what to multiply a fitted number of an item with to show it, and its unit then."""
    assert coefficient.item is not None
    if coefficient.is_of_curve and coefficient.curve is not None:
        return shown_curve(coefficient.curve)
    return shown_demand(coefficient.item, coefficient.factors, coefficient.value, coefficient.curve)


def _percent(load: float) -> str:
    return f"{load * 100:.3g} %"
