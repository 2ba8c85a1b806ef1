"""What attributes of a span say about its operation, its peer, its sizes and its sampling.

Only those that are named here are read, of the semantic conventions of OpenTelemetry (old and new)
and of OpenTracing; all others, with whatever secrets they hold, are passed over.
"""

from __future__ import annotations

from collections.abc import Mapping

from qps.compiler.measurement.traces.span_names import operation_name, peer_name, service_name
from qps.compiler.measurement.traces.spans import Kind

_ROUTES = ("http.route", "url.template")
_METHODS = ("http.request.method", "http.method")
_DATABASES = ("db.system.name", "db.system", "db.type")
_NAMES_OF_DATABASE = ("db.namespace", "db.name", "db.instance")
_HOSTS = ("server.address", "net.peer.name", "peer.hostname", "net.sock.peer.name", "peer.address")
_STATUSES = ("http.response.status_code", "http.status_code")
_SENT = ("http.request.body.size", "http.request_content_length", "http.request.size")
_RETURNED = ("http.response.body.size", "http.response_content_length", "http.response.size")
INSTANCES = ("service.instance.id", "k8s.pod.name", "hostname", "host.name", "ip")
"""What distinguishes processes of a service, the best first."""
_OF_SPAN = (
    *(*_ROUTES, *_METHODS, *_DATABASES, *_NAMES_OF_DATABASE, *_HOSTS, *_STATUSES, *_SENT),
    *(*_RETURNED, "peer.service", "messaging.system", "messaging.destination.name"),
    *("messaging.destination", "error", "span.kind", "sampler.type", "sampler.param", "rpc.system"),
)
WANTED = frozenset((*_OF_SPAN, *INSTANCES, "service.name"))
"""All names of attributes that anything here reads."""

_FIRST_ERROR = 500
_FIRST_ERROR_OF_CALL = 400
_BITS = 56
_KINDS = {kind.name.lower(): kind for kind in Kind}

Attributes = Mapping[str, str]


def operation_of(name: str, attributes: Attributes) -> str:
    """Return the operation: the route of a request where there is one, else the span's name."""
    route = _first(attributes, _ROUTES)
    if not route:
        return operation_name(name)
    return operation_name(f"{_first(attributes, _METHODS)} {route}".strip())


def peer_of(attributes: Attributes) -> str:
    """Return who is called, where it may have written no spans itself."""
    if peer := attributes.get("peer.service", ""):
        return service_name(peer)
    if database := _first(attributes, _DATABASES):
        name = _first(attributes, _NAMES_OF_DATABASE)
        return service_name(f"{database} {name}".strip())
    if broker := attributes.get("messaging.system", ""):
        return service_name(broker)
    return peer_name(_first(attributes, _HOSTS))


def kind_of(attributes: Attributes) -> Kind:
    """Return the kind that an attribute says, as Jaeger has it."""
    return _KINDS.get(attributes.get("span.kind", "").lower(), Kind.INTERNAL)


def failed(attributes: Attributes, kind: Kind) -> bool:
    """Return whether attributes say that something went wrong."""
    if attributes.get("error", "false").lower() not in ("false", "", "0"):
        return True
    status = size_of(attributes, _STATUSES)
    return status >= (_FIRST_ERROR_OF_CALL if kind is Kind.CLIENT else _FIRST_ERROR)


def sent_by(attributes: Attributes) -> float:
    """Return the bytes of a request, -1 if unknown."""
    return size_of(attributes, _SENT)


def returned_by(attributes: Attributes) -> float:
    """Return the bytes of an answer, -1 if unknown."""
    return size_of(attributes, _RETURNED)


def size_of(attributes: Attributes, names: tuple[str, ...]) -> float:
    """Return a number that is not below zero, -1 if there is none."""
    text = _first(attributes, names)
    if not text:
        return -1.0
    try:
        value = float(text)
    except ValueError:
        return -1.0
    return value if 0 <= value < 2**53 else -1.0


def instance_of(attributes: Attributes) -> str:
    """Return which process of a service wrote a span."""
    return _first(attributes, INSTANCES)[:200]


def weight_of_state(state: str) -> float:
    """Return how many spans one stands for, by the sampling threshold in its `tracestate`.

    >>> weight_of_state("vendor=1,ot=rv:1;th:c"), weight_of_state("ot=th:0"), weight_of_state("")
    (4.0, 1.0, 1.0)
    """
    for member in state.split(","):
        key, _, value = member.strip().partition("=")
        if key != "ot":
            continue
        for field in value.split(";"):
            name, _, digits = field.partition(":")
            if name == "th" and 1 <= len(digits) <= _BITS // 4:
                return _weight_of_threshold(digits)
    return 1.0


def _weight_of_threshold(digits: str) -> float:
    try:
        rejected = int(digits.ljust(_BITS // 4, "0"), 16) / 2**_BITS
    except ValueError:
        return 1.0
    return 1.0 / (1.0 - rejected) if 0 <= rejected < 1 else 1.0


def weight_of_sampler(attributes: Attributes) -> float:
    """Return how many spans one stands for, by the sampler that Jaeger's clients write down.

    >>> weight_of_sampler({"sampler.type": "probabilistic", "sampler.param": "0.1"})
    10.0
    """
    if attributes.get("sampler.type") != "probabilistic":
        return 1.0
    try:
        share = float(attributes.get("sampler.param", "1"))
    except ValueError:
        return 1.0
    return 1.0 / share if 0 < share <= 1 else 1.0


def _first(attributes: Attributes, names: tuple[str, ...]) -> str:
    for name in names:
        if value := attributes.get(name):
            return value
    return ""
