"""Do two texts write the same formula? Both are evaluated at some points: see `goldens.py`."""

from __future__ import annotations

import ast
import re
from functools import reduce
from zlib import crc32

from mpmath import mp, mpf

_DIGITS = 40
_SCALES = (0.3, 3.0, 40.0, 700.0)  # of what names stand for: steps and maxima change with it
_SAME = mpf("1e-9")
_WORDS = {"if", "else", "and", "or", "not"}
_NAME = re.compile(r"[^\W\d][\w]*(?:\.[^\W\d]\w*)*|[%$€]")
# What ends a value, and a name behind it: `8 ms/request` is a product.
_PRODUCT = re.compile(r"((?<![\w.])\d[\d_.]*(?:e[+-]?\d+)?|\)) ?(?=[^\W\d_]|[%$€])(?!if |else )")
_KNOWN = {
    "min": lambda *values: min(values),
    "max": lambda *values: max(values),
    "abs": abs,
    "floor": mp.floor,
    "ceil": mp.ceil,
    "sqrt": mp.sqrt,
    "exp": mp.exp,
    "log": mp.log,
    "ln": mp.log,
}


def same_formula(old: str, new: str) -> bool:
    """Tell whether both are formulas, and have the same values wherever they are asked."""
    one, other = _parsed(old), _parsed(new)
    if one is None or other is None:
        return False
    with mp.workdps(_DIGITS):
        return all(_agree(_value(one, scale), _value(other, scale)) for scale in _SCALES)


def values_of(text: str) -> list[str] | None:
    """Return the values of a formula, None of what is none."""
    formula = _parsed(text)
    if formula is None:
        return None
    with mp.workdps(_DIGITS):
        values = [_value(formula, scale) for scale in _SCALES]
        return ["none" if value is None else mp.nstr(value, 14) for value in values]


def _parsed(text: str) -> ast.expr | None:
    if not re.search(r"[*/+(^-]", text):
        return None
    product = _PRODUCT.sub(r"\1*", text.replace("^", "**"))
    try:
        return ast.parse(_NAME.sub(_plain, product), mode="eval").body
    except SyntaxError:
        return None


def _plain(name: re.Match[str]) -> str:
    """Return a name that Python takes; those of the language may be words of Python."""
    return name[0] if name[0] in _WORDS else "n_" + name[0].encode().hex()


def _agree(one: mpf | None, other: mpf | None) -> bool:
    if one is None or other is None:
        return one is other
    return bool(abs(one - other) <= _SAME * max(abs(one), abs(other)))


def _value(formula: ast.expr, scale: float) -> mpf | None:
    """Return the value at a point, None where there is none."""
    try:
        return mpf(_Point(scale).value(formula))
    except (ArithmeticError, ValueError, TypeError):
        return None


class _Point:
    """Evaluates formulas; each name has a value of its own."""

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def value(self, node: ast.expr) -> mpf:
        match node:
            case ast.Constant(value=int() | float() as number):
                return mpf(str(number))
            case ast.Name(id=name):
                return self._number(name)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.value(operand)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return mpf(not self.value(operand))
            case ast.BinOp(left=left, op=operation, right=right):
                return _binary(operation, self.value(left), self.value(right))
            case ast.BoolOp(op=operation, values=values):
                among = [bool(self.value(each)) for each in values]
                return mpf(all(among) if isinstance(operation, ast.And) else any(among))
            case ast.Compare(left=left, ops=[operation], comparators=[right]):
                return mpf(_compared(operation, self.value(left), self.value(right)))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.value(body if self.value(test) else orelse)
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self._called(name, [self.value(each) for each in arguments])
        raise ValueError(type(node).__name__)

    def _number(self, name: str) -> mpf:
        return self.scale * (mpf(1) / 2 + mpf(crc32(name.encode())) / 2**32)

    def _called(self, name: str, values: list[mpf]) -> mpf:
        known = _KNOWN.get(bytes.fromhex(name[2:]).decode())
        if known is not None:
            return known(*values)
        # Of any other function only this is told: the same of the same values.
        mixed = reduce(lambda so_far, each: 1.7 * so_far + each, values, mpf(crc32(name.encode())))
        return mpf(1.5) + mp.sin(mixed)


def _binary(operation: ast.operator, left: mpf, right: mpf) -> mpf:
    match operation:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div():
            return left / right
        case ast.Pow():
            return left**right
    raise ValueError(type(operation).__name__)


def _compared(operation: ast.cmpop, left: mpf, right: mpf) -> bool:
    match operation:
        case ast.Lt():
            return bool(left < right)
        case ast.LtE():
            return bool(left <= right)
        case ast.Gt():
            return bool(left > right)
        case ast.GtE():
            return bool(left >= right)
        case ast.Eq():
            return bool(left == right)
        case ast.NotEq():
            return bool(left != right)
    raise ValueError(type(operation).__name__)
