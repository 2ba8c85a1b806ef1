"""Phrases of what happens in an incident: backlogs, losses, when it is over, what would help."""

from __future__ import annotations

INCIDENT_PHRASES: dict[str, str] = {
    "incident.accuracy": (
        "fluid model, at nominal inputs; in simulations of single requests, backlogs were within "
        "10 % and times within 12 %"
    ),
    "incident.at_once": "no backlog",
    "incident.at": "{users}, {rate} requests/s",
    "incident.backlog": "{resource}: up to {worst} of work, at {at}",
    "incident.budget": "retry budget of {after} for {target}",
    "incident.budget_from": "retry budget: {before} -> {after} for {target}",
    "incident.cache": "{cache}: hit rate {low} at {at}, {end} at the end",
    "incident.change": "Change",
    "incident.empty": "empty {target} at {start}",
    "incident.extrapolated": "at about {at}, by itself",
    "incident.happens": "{what} from {start} to {end}",
    "incident.in_time": "requests sent after {at} are answered",
    "incident.label.accuracy": "Accuracy",
    "incident.label.at": "At",
    "incident.label.backlog": "Backlog",
    "incident.label.cache": "Cache",
    "incident.label.happens": "Incident",
    "incident.label.late": "Late",
    "incident.label.lost": "Lost",
    "incident.label.over": "Over",
    "incident.label.servers": "Servers",
    "incident.label.strip": "Backlog",
    "incident.label.strip_lost": "Lost",
    "incident.label.strip_load": "Requests",
    "incident.label.worst": "Worst",
    "incident.late": "{stream}: {late} of {sent} requests answered after {limit}",
    "incident.least": "{node}: at least {before} -> {after} servers",
    "incident.lose": "{target} is lost",
    "incident.lose_some": "{count} of {target} {are} lost",
    "incident.lost": (
        "{stream}: {lost} of {sent} requests ({part}), without an answer within {timeout}"
    ),
    "incident.lost_so_far": "{lost}, until {at}",
    "incident.lost_after": "{lost} and {retries}",
    "incident.machines": "{node}: {before} -> {after} servers",
    "incident.most": "{node}: at most {before} -> {after} servers",
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
    "incident.retries": "{many} retries",
    "incident.retry": "1 retry",
    "incident.same_servers": "{node}: {first} at all times",
    "incident.servers": "{node}: {first}, up to {most} at {at}",
    "incident.slow": "{target} is slower by {amount}",
    "incident.strip": "0 s {bars} {end}",
    "incident.surge": "{amount} more {target}",
    "incident.title": "{model}: {incident}",
    "incident.worst": "{stream}: response time up to {worst}, at {at}",
}
