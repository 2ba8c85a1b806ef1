"""Phrases of what happens in an incident: backlogs, losses, when it is over, what would help."""

from __future__ import annotations

INCIDENT_PHRASES: dict[str, str] = {
    "course.chart.answered": "answered in time",
    "course.chart.backlog": "Backlog",
    "course.chart.capacity": "capacity",
    "course.chart.day": "Day at {users}",
    "course.chart.first": "first attempts",
    "course.chart.highest": "utilization",
    "course.chart.hits": "Hit rate",
    "course.chart.in_unit": "{title}, in {unit}",
    "course.chart.incident": "Incident: {name}",
    "course.chart.load": "load",
    "course.chart.load_of": "Load and capacity of {resource}, compared with before",
    "course.chart.lost": "lost",
    "course.chart.midnight": "24:00",
    "course.chart.of_day": "Time",
    "course.chart.of_week": "Day",
    "course.chart.rate": "requests/s",
    "course.chart.requests": "Traffic",
    "course.chart.retries": "retries",
    "course.chart.servers": "Servers that work",
    "course.chart.since": "Time since the start",
    "course.chart.utilization": "Utilization of the busiest resource",
    "course.chart.week": "Week at {users}",
    "course.sim.accuracy": (
        "Stated accuracy of the fluid model: 10 % for backlogs and lost requests, 12 % for the "
        "time from the end of the last event until it is over."
    ),
    "course.sim.agree": "all {compared} compared results agree",
    "course.sim.agreement": "Agreement",
    "course.sim.agrees": "agrees",
    "course.sim.differ": "{differing} of {compared} compared results differ",
    "course.sim.differs": "differs",
    "course.sim.fluid": "Fluid model",
    "course.sim.in": "{many} {unit}",
    "course.sim.interval": "{mean} ± {width}",
    "course.sim.measure": "Measure",
    "course.sim.not_compared": "not compared",
    "course.sim.not_over": "not over",
    "course.sim.not_over_in": "not over in {many} of {runs} runs",
    "course.sim.of.backlog": "{of}: largest backlog",
    "course.sim.of.cleared_at": "{of}: backlog cleared at",
    "course.sim.of.late": "{of}: late requests",
    "course.sim.of.lost": "{of}: lost requests",
    "course.sim.of.over_at": "Over at",
    "course.sim.of.response_time": "{of}: longest mean response time",
    "course.sim.open": "{over} of {runs} were over within {until}",
    "course.sim.nothing": "nothing to compare: there are neither backlogs nor lost requests",
    "course.sim.over": "{runs}; all were over",
    "course.sim.queues": (
        "In the simulation, all machines of a node share one queue, and requests are served first "
        "come, first served."
    ),
    "course.sim.result": "Result",
    "course.sim.runs": "Runs",
    "course.sim.simulated": "Simulated, 95 % CI",
    "course.sim.title": "Simulation of {model} at {users}",
    "course.unit.hours": "hours",
    "course.unit.minutes": "minutes",
    "course.unit.seconds": "s",
    "incident.about": "about {at}",
    "incident.accuracy": (
        "fluid model, at nominal inputs; in simulations of single requests, backlogs were within "
        "10 % and times within 12 %"
    ),
    "incident.accuracy_in_series": (
        "fluid model, at nominal inputs; parallel calls of {streams} are followed one after the "
        "other, so that waits at several of them are added"
    ),
    "incident.attempts": "with retries, up to {rate} requests/s, at {at}",
    "incident.at_once": "no backlog",
    "incident.at": "{users}, {rate} requests/s",
    "incident.backlog": "{resource}: up to {worst} of work, at {at}",
    "incident.backlog_grows": "{resource}: still growing at {at}: {worst} of work by then",
    "incident.budget": "retry budget of {after} for {target}",
    "incident.budget_from": "retry budget: {before} -> {after} for {target}",
    "incident.by_chance": (
        "may or may not be over by itself (metastable): this is near the limit, where random "
        "variation decides; {variation} more or fewer requests change the result"
    ),
    "incident.by_chance_short": "by itself or never, by chance",
    "incident.cache": "{cache}: hit rate {low} at {at}, {end} at the end",
    "incident.change": "Change",
    "incident.counted_until": (
        "≥: lost and late requests are counted until {at}; more follow until it is over."
    ),
    "incident.empty": "empty {target} at {start}",
    "incident.errors_or_timeout": (
        "{stream}: {lost} of {sent} requests ({part}), by errors or without an answer within "
        "{timeout}"
    ),
    "incident.errors": "{stream}: {lost} of {sent} requests ({part}), answered with errors",
    "incident.extrapolated": "at about {at}, by itself",
    "incident.fail": "{target} answers errors",
    "incident.fail_one": "{count} of {target} answers errors",
    "incident.fail_some": "{count} of {target} answer errors",
    "incident.happens": "{what} from {start} to {end}",
    "incident.in_time": "requests sent after {at} are answered",
    "incident.label.accuracy": "Accuracy",
    "incident.label.at": "At",
    "incident.label.attempts": "Attempts",
    "incident.label.backlog": "Backlog",
    "incident.label.cache": "Cache",
    "incident.label.happens": "Incident",
    "incident.label.late": "Late",
    "incident.label.lost": "Lost",
    "incident.label.modes": "Other modes",
    "incident.label.over": "Over",
    "incident.label.servers": "Servers",
    "incident.label.strip": "Backlog",
    "incident.label.strip_lost": "Lost",
    "incident.label.strip_load": "Requests",
    "incident.label.worst": "Worst",
    "incident.late": "{stream}: {late} of {sent} requests answered after {limit}",
    "incident.least": "{node}: at least {before} -> {after} servers",
    "incident.lose": "{target} is lost",
    "incident.lose_one": "{count} of {target} is lost",
    "incident.lose_some": "{count} of {target} are lost",
    "incident.lost": (
        "{stream}: {lost} of {sent} requests ({part}), without an answer within {timeout}"
    ),
    "incident.lost_so_far": "{lost}, until {at}",
    "incident.lost_after": "{lost} and {retries}",
    "incident.machines": "{node}: {before} -> {after} servers",
    "incident.mode": "{mode}: {over}",
    "incident.mode_lost": "{mode}: {over}, {lost} lost",
    "incident.most": "{node}: at most {before} -> {after} servers",
    "incident.name_in": "{name} in mode {mode}",
    "incident.never": ("not over by itself: {resource} stays overloaded after the cause has ended"),
    "incident.never_retries": (
        "not over by itself (metastable): with retries, {offered} requests/s keep {resource} "
        "overloaded after the cause has ended"
    ),
    "incident.never_short": "never",
    "incident.no_backlog": "none: no request waits or is lost",
    "incident.no_retries": "no retries for {target}",
    "incident.none": "0",
    "incident.over": "at {at}, by itself",
    "incident.over_in_short": "{name}, over: {over}",
    "incident.page_random": (
        "{resource}: it is utilized to about 100 % for some time; what random variation adds then "
        "is computed by `qps incident --at {at}`"
    ),
    "incident.page_random_over": (
        "later than the charts show, as random variation adds to what waits: see "
        "`qps incident --at {at}`"
    ),
    "incident.random_backlog": (
        "{resource}: up to about {worst} of work by random variation alone, on average: it is "
        "{load} utilized until {end}"
    ),
    "incident.random_over": (
        "on average at about {at}, by itself: what waits then is by random variation alone"
    ),
    "incident.random_waits": (
        "retries from random waits alone may overload it, also without an incident (metastable): "
        "{share} of {stream} exceed {timeout} by chance, and all attempts together are {load} of "
        "the capacity of {resource}"
    ),
    "incident.random_waits_short": "retries from random waits alone may overload it",
    "incident.reason.hits_are_set": "not computed: the hit rate of an emptied cache is set",
    "incident.reason.many_routes": "not computed: there are too many ways through the system",
    "incident.reason.not_followed": (
        "not computed on this page for these settings: run `qps incident`"
    ),
    "incident.reason.not_linear": (
        "not computed: requests are not proportional to the hit rate of the cache"
    ),
    "incident.reason.other_load": "not computed: a load is not that of the requests",
    "incident.reason.overloaded": (
        "not computed: the system is overloaded before the incident, at {at} users"
    ),
    "incident.reason.several_caches": "not computed: a stream depends on several emptied caches",
    "incident.reason.short_timeout": (
        "not computed: a timeout is not above the mean response time before the incident"
    ),
    "incident.reason.too_long": "not computed: the incident is too long beside its shortest event",
    "incident.reason.too_many_machines": "not computed: more machines are lost than there are",
    "incident.retries": "{many} retries",
    "incident.retry": "1 retry",
    "incident.same_servers": "{node}: {first} at all times",
    "incident.servers": "{node}: {first}, up to {most} at {at}",
    "incident.servers_at_most": (
        "{servers}; its limit of {most} is too low for the target of {target}, which takes {needed}"
    ),
    "incident.slow": "{target} is slower by {amount}",
    "incident.strip": "0 s {bars} {end}",
    "incident.surge": "{amount} more {target}",
    "incident.title": "{model}: {incident}",
    "incident.users_in": "{users} in mode {mode}",
    "incident.users_at": "{users} at {moment}",
    "incident.written": "{output}: {incidents}",
    "incident.worst": "{stream}: response time up to {worst}, at {at}",
}
