"""Caches are checked: the parameter of their name is their hit rate in steady state."""

from __future__ import annotations

from fractions import Fraction

from qps.compiler import ir
from qps.compiler.check.model.incidents.named_settings import SettingKind, SettingsChecker
from qps.compiler.check.names.declarations import LoadedModule
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.diagnostics import codes
from qps.compiler.syntax import ast
from qps.engine.queueing.cache_hit_rates import warm_cache

_KINDS = {
    "items": SettingKind(what="the number of items", example="items 1_000_000", is_required=True),
    "zipf": SettingKind(what="the exponent of Zipf's law", example="zipf 0.8", is_required=True),
    "size": SettingKind(
        what="the number of items in the cache", example="size 50_000", is_required=True
    ),
}
_MOST_ITEMS = 10**12
_MOST_EXPONENT = 5
_DIGITS = 6


class CacheChecker(SettingsChecker, frozen=True):
    """Checks the caches of a program."""

    def cache(
        self, param: ast.Param, shape: ast.CacheShape, module: LoadedModule, name: str
    ) -> ir.Cache | None:
        """Return a cache; None where it was reported."""
        stated = self.stated(shape.settings, _KINDS, param.name.span)
        if stated is None:
            return None
        scope = Scope(module, AllowedNames.NOTHING)
        numbers: dict[str, Fraction] = {}
        for key, setting in stated.items():
            number = self.expressions.number(setting.value, scope, _KINDS[key].what)
            if number is None or not self._is_possible(key, setting, number):
                return None
            numbers[key] = number
        if numbers["size"] > numbers["items"]:
            self.sink.report(
                codes.OUT_OF_RANGE,
                stated["size"].value.span,
                f"the cache has room for {int(numbers['size']):,} items, but there are only "
                f"{int(numbers['items']):,}",
                hint="state a size of at most the number of items",
            )
            return None
        return ir.Cache(
            name=name,
            items=int(numbers["items"]),
            zipf=float(numbers["zipf"]),
            size=int(numbers["size"]),
            span=param.name.span,
        )

    def _is_possible(self, key: str, setting: ast.NamedSetting, number: Fraction) -> bool:
        """Return whether a number is in bounds; it is reported where it is not."""
        if key == "zipf":
            most, is_right = _MOST_EXPONENT, 0 <= number <= _MOST_EXPONENT
            hint = "exponents of measured popularities are from 0.6 to 1.2; 0 is for equal ones"
        else:
            most = _MOST_ITEMS
            is_right = 1 <= number <= most and number.denominator == 1
            hint = "write a whole number of items, such as `1_000_000`"
        if not is_right:
            least = 0 if key == "zipf" else 1
            self.sink.report(
                codes.OUT_OF_RANGE,
                setting.value.span,
                f"{_KINDS[key].what} must be from {least} to {most:,}",
                hint=hint,
            )
        return is_right


def hit_rate(cache: ir.Cache) -> Fraction:
    """Return the hit rate of a cache in steady state, with as many digits as are reliable."""
    return Fraction(str(round(warm_cache(cache.items, cache.zipf, cache.size).hit_rate, _DIGITS)))
