"""What methods need of the network, in words."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from qps.compiler.quantities.methods.method_row import PremiseText

PREMISES: Mapping[str, PremiseText] = MappingProxyType(
    {
        "poisson": PremiseText(
            "Poisson arrivals",
            "Arrivals are a Poisson process, without bursts and without other queues upstream.",
        ),
        "not-behind-a-pool": PremiseText(
            "no pool upstream", "Open traffic does not pass a pool before it arrives."
        ),
        "poisson-at-pool": PremiseText(
            "Poisson arrivals at a pool",
            "Items acquire a unit of the pool once, and arrive there as a Poisson process.",
        ),
        "exponential-holds": PremiseText(
            "exponential holding times",
            (
                "All items hold the same amount of the pool for one exponential service time with "
                "the same mean, at a station that cannot queue."
            ),
        ),
        "enough-servers": PremiseText(
            "enough servers for all units",
            (
                "All items at the station hold units of pools, and it has at least as many servers "
                "as these pools have units."
            ),
        ),
        "periodic": PremiseText(
            "periodic arrivals",
            "All items of each flow arrive periodically.",
        ),
        "one-period": PremiseText("one period", "All flows have the same period."),
        "single": PremiseText(
            "single arrivals", "Items arrive one at a time, not in batches of copies."
        ),
        "independent-batches": PremiseText(
            "independent batches",
            "Copies of an item arrive at the same time, or at different stations.",
        ),
        "random-or-room": PremiseText(
            "Poisson arrivals, or unlimited room",
            (
                "Arrivals are a Poisson process, and no step applies only to some items; or the "
                "queue is unlimited."
            ),
        ),
        "one-server": PremiseText(
            "one server", "There is one server, and no other resource is held during service."
        ),
        "one-server-or-equal": PremiseText(
            "one server, or equal service times",
            "There is one server, or all service times are exponential with the same mean.",
        ),
        "exponential-service": PremiseText(
            "exponential service times", "Service times are exponential."
        ),
        "fixed-service": PremiseText("fixed service times", "Service times are constant."),
        "equal-service": PremiseText(
            "equal mean service times", "All visits have the same mean service time."
        ),
        "fixed-or-exponential-service": PremiseText(
            "fixed or exponential service times",
            "The service times of each visit are constant or exponential.",
        ),
        "few-services": PremiseText(
            "few different service times",
            "Visits have at most 16 different mean service times, one for each visit.",
        ),
        "whole-visits": PremiseText(
            "same steps for all items",
            (
                "No step applies only to some items, so that service times have the declared "
                "distribution. Not required if only means matter (processor sharing, closed "
                "streams)."
            ),
        ),
        "no-other-load": PremiseText("no background load", "There is no background utilization."),
        "product-form-station": PremiseText(
            "product form",
            (
                "If closed streams share the station with other streams, it uses processor "
                "sharing (`ps`), or all service times are exponential with the same mean."
            ),
        ),
        "product-form-stations": PremiseText(
            "product form at all stations",
            (
                "Every station of all streams that share queues with this one has a product form, "
                "and open traffic does not pass a pool before it arrives there."
            ),
        ),
        "few-enough-users": PremiseText(
            "small population", "The population is small enough for exact mean value analysis."
        ),
        "whole-population": PremiseText(
            "whole number of requests", "The number of requests in flight is a whole number."
        ),
        "one-place-at-a-time": PremiseText(
            "one station at a time", "An item occupies one station at a time."
        ),
        "no-saturation": PremiseText(
            "no saturation without queueing",
            (
                "Closed streams do not share a resource that can saturate and has no queueing "
                "discipline."
            ),
        ),
        "free-choice": PremiseText(
            "free choice of machines",
            (
                "Each visit chooses one of several machines independently. The choice does not "
                "depend on a pool unit that the item holds there."
            ),
        ),
        "no-pools": PremiseText(
            "no pools, no load dependence",
            (
                "Items hold a pool only for one exponential service, at a station that is not "
                "visited otherwise. The speed of a station that several streams share does not "
                "depend on its queue length."
            ),
        ),
        "no-forks": PremiseText("no parallel calls", "There are no parallel calls."),
        "no-priorities": PremiseText("no priorities", "No stream has priority over another."),
        "no-loss": PremiseText("no loss", "No items are lost."),
        "one-path": PremiseText("one path", "No step or delay applies only to some items."),
        "at-most-one-chance": PremiseText(
            "at most one optional call", "At most one call is probabilistic."
        ),
        "independent-stages": PremiseText(
            "independent stages",
            "Stages are independent: items do not overtake each other or return to a stage.",
        ),
        "queueing-modeled": PremiseText(
            "queueing discipline declared",
            "Every station on the path declares its queueing discipline.",
        ),
        "variance-known": PremiseText(
            "jitter of queues declared",
            "Every station on the path with a queueing discipline declares its jitter.",
        ),
        "one-saturating-station": PremiseText(
            "one overloaded station", "The path of an item includes at most one overloaded station."
        ),
    }
)
"""What methods need of the network, by id.

Some are checked on it (`lower/labels/premises.py`), the others decide which formula is made.
"""
