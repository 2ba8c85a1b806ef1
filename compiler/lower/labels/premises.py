"""What methods need of a network to be exact: a function by the id of each premise.

Each yields why it fails at a station, or for a class, and nothing where it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from qps.compiler.lower.labels.class_premises import (
    at_most_one_chance,
    few_enough_users,
    free_choice,
    independent_stages,
    no_forks,
    no_loss,
    no_pools,
    no_priorities,
    no_saturation,
    one_path,
    one_place_at_a_time,
    one_saturating_station,
    product_form_stations,
    queueing_modeled,
    variance_known,
    whole_population,
)
from qps.compiler.lower.labels.enough_servers import enough_servers
from qps.compiler.lower.labels.labeled_network import NetworkPassages, NumberFacts, Premise
from qps.compiler.lower.labels.station_premises import (
    OF_QUEUES,
    OfQueue,
    not_behind_a_pool,
    periodic,
    poisson,
    product_form_station,
    random_or_room,
    whole_visits,
)
from qps.compiler.network.classes import Class
from qps.compiler.network.stations_and_pools import Station

_OfStation = Callable[[NetworkPassages, Station, NumberFacts], Iterator[Premise]]


def _at(of_queue: OfQueue) -> _OfStation:
    """Return the premise of a station that only looks at what visits it."""
    return lambda network, station, _: of_queue(network.queues[station.name])


OF_STATIONS: Mapping[str, _OfStation] = {
    "poisson": poisson,
    "not-behind-a-pool": not_behind_a_pool,
    "periodic": periodic,
    "random-or-room": random_or_room,
    "whole-visits": whole_visits,
    "product-form-station": product_form_station,
    "enough-servers": enough_servers,
    **{name: _at(of_queue) for name, of_queue in OF_QUEUES.items()},
}
"""By id, of stations that are waited for."""
OF_CLASSES: Mapping[str, Callable[[NetworkPassages, Class, NumberFacts], Iterator[Premise]]] = {
    "one-path": one_path,
    "at-most-one-chance": at_most_one_chance,
    "independent-stages": independent_stages,
    "queueing-modeled": queueing_modeled,
    "variance-known": variance_known,
    "one-saturating-station": one_saturating_station,
    "product-form-stations": product_form_stations,
    "no-saturation": no_saturation,
    "free-choice": free_choice,
    "few-enough-users": few_enough_users,
    "whole-population": whole_population,
    "one-place-at-a-time": one_place_at_a_time,
    "no-pools": no_pools,
    "no-forks": no_forks,
    "no-priorities": no_priorities,
    "no-loss": no_loss,
}
"""By id, of classes, with the closed classes that they meet."""
OF_PERIODS = ("periodic", "one-period")
"""Of stations to which flows come by the clock."""
SATURATION_PREMISES = ("no-saturation", "free-choice")
"""Without these, no error that is stated of a class holds."""
