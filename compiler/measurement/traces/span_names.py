"""Names of services and operations as they may be written: in one line, without secrets or IDs.

Two requests for `/users/17` and `/users/18?token=x` are the same operation, `/users/{id}`: so
routes are few, and nothing that identifies a person or opens a door is written to a spec.
"""

from __future__ import annotations

import re
from functools import lru_cache

_LONGEST = 120
_FEWEST_OF_ID = 16
_DIGITS_OF_ID = 2

_USER_INFO = re.compile(r"(?<=//)[^/\s?#]*@")
_QUERY = re.compile(r"[?#]\S*")
_QUERY_VALUE = re.compile(r"\?\S*=\S")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_SECRET = re.compile(
    r"(?i)\b(bearer|basic)\s+\S+"
    r"|\b[\w.-]*(passw\w*|pwd|secret|token|api[-_ ]?key|apikey|credential|auth|session(?:_?id)?)"
    r"\s*[=:]\s*\S+"
)
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_UUID = re.compile(r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_PART = re.compile(r"[^/\s.,;:()&=|]+")
_HEX = re.compile(r"(?i)[0-9a-f]{8,}")
_NUMBER = re.compile(r"[+-]?\d+")
_ADDRESS = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?|\[?[0-9a-fA-F]*:[0-9a-fA-F:]+\]?(?::\d+)?")
_KNOWN_TOKEN = re.compile(r"(?:gh[pousr]|xox[abprs]|sk|pk|rk|glpat|AKIA|eyJ)[-_]?\w{12,}")
_SPACES = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2066-\u2069]+")


@lru_cache(maxsize=50_000)
def operation_name(text: str) -> str:
    """Return an operation without what differs from request to request.

    >>> operation_name("GET /users/1742/orders?token=abc")
    'GET /users/{id}/orders'
    >>> operation_name("hipstershop.CartService/GetCart")
    'hipstershop.CartService/GetCart'
    >>> operation_name("SELECT * FROM users WHERE mail = 'a@b.example'")
    'SELECT * FROM users WHERE mail = {id}'
    """
    text = _SPACES.sub(" ", text[: 8 * _LONGEST])
    text = _USER_INFO.sub("", text)
    text = _QUERY.sub("", text)
    text = _QUOTED.sub("{id}", text)
    text = _SECRET.sub("{id}", text)
    text = _EMAIL.sub("{id}", text)
    text = _UUID.sub("{id}", text)
    text = _ADDRESS.sub("{id}", text)
    text = _KNOWN_TOKEN.sub("{id}", text)
    return _PART.sub(_without_ids, text).strip()[:_LONGEST] or "unnamed"


@lru_cache(maxsize=50_000)
def has_secrets(text: str) -> bool:
    """Return whether a name has what may open a door: credentials, or values of a query.

    >>> has_secrets("GET /users?token=abc"), has_secrets("GET /users/17")
    (True, False)
    """
    text = text[: 8 * _LONGEST]
    return any(one.search(text) for one in (_USER_INFO, _SECRET, _KNOWN_TOKEN, _QUERY_VALUE))


def _without_ids(match: re.Match[str]) -> str:
    part = match[0]
    digits = sum(map(str.isdigit, part))
    is_id = (
        _NUMBER.fullmatch(part)
        or (_HEX.fullmatch(part) and digits)
        or (len(part) >= _FEWEST_OF_ID and digits >= _DIGITS_OF_ID)
    )
    return "{id}" if is_id else part


@lru_cache(maxsize=10_000)
def service_name(text: str) -> str:
    r"""Return the name of a service in one line, without secrets.

    >>> service_name("cart\nservice")
    'cart service'
    """
    text = _SPACES.sub(" ", text[: 8 * _LONGEST])
    text = _QUERY.sub("", _USER_INFO.sub("", text))
    text = _EMAIL.sub("{id}", _SECRET.sub("{id}", text))
    return _KNOWN_TOKEN.sub("{id}", text).strip()[:_LONGEST] or "unnamed"


def peer_name(host: str) -> str:
    """Return the name of a machine that is called; an address is no name.

    >>> peer_name("orders.db.example:5432"), peer_name("10.0.0.7"), peer_name("")
    ('orders.db.example', 'unnamed host', '')
    """
    if not host:
        return ""
    if _ADDRESS.fullmatch(host):
        return "unnamed host"
    return operation_name(re.sub(r":\d+$", "", host))
