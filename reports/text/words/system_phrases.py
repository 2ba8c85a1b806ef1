"""Phrases of specs that are written from traces: their comments, and questions that are open."""

from __future__ import annotations

from collections.abc import Mapping

SYSTEM_PHRASES: Mapping[str, str] = {
    "manifest.assumed": "assumed: not in the manifests",
    "manifest.cores_question": (
        "QUESTION: how many cores can one replica use? The manifest states no limit."
    ),
    "manifest.count": "replicas in {file}",
    "manifest.cpu_question": (
        "QUESTION: how much processor time does one request take at each service? Replace these "
        "assumptions with measurements (`qps fit`, `qps observe traces --cpu`). Until then, "
        "results have a wide interval."
    ),
    "manifest.depends": "depends on {names}",
    "manifest.doc": "{count} service{s}, from manifests",
    "manifest.fraction": (
        "a limit of {cores} core is a quota; it is modeled as one server with this speed"
    ),
    "manifest.header": (
        "Written by `qps observe manifests`. Counts and limits are those of the manifests; what "
        "they do not hold is marked QUESTION, and its value is assumed. Edit this file freely."
    ),
    "manifest.left_out": "`{name}` has no replicas and is left out",
    "manifest.limit": "limits in {file}",
    "manifest.machine": "{file}",
    "manifest.memory": "its memory is limited to {size} MB",
    "manifest.path_question": (
        "QUESTION: which of these services does a request use, and how often? Remove the others."
    ),
    "manifest.rate_question": "QUESTION: how many requests does one user send?",
    "manifest.requests": "the manifest requests {cores} core",
    "manifest.type_question": (
        "QUESTION: how many cores has a machine of type `{type}`? `std.cloud` does not have it."
    ),
    "manifest.written": (
        "{output}: {count} service{s}; answer its lines marked QUESTION, then run "
        "`qps solve {output}`"
    ),
    "service_graph.assumed": "assumed: not in the metrics",
    "service_graph.claims": "the rates and calls of the metrics",
    "service_graph.cpu_measured": (
        "# Processor time per request: CPU of pods divided by requests, from {file}."
    ),
    "service_graph.cpu_question": (
        "QUESTION: how much processor time does one request take at each service? Save "
        "`container_cpu_usage_seconds_total` of its pods as well and run `qps observe "
        "service-graph` again, or replace the numbers below. Until then, results have a wide "
        "interval."
    ),
    "service_graph.delays": (
        "Elapsed time that is not processor time: waiting for locks, disks and the network, taken "
        "as constant, and calls as made in turn, as metrics do not show which are made together."
    ),
    "service_graph.doc": (
        "{services} service{s} and {routes} kind{rs} of request{rs}, observed in metrics"
    ),
    "service_graph.files": "Metrics: {files}",
    "service_graph.header": (
        "Written by `qps observe service-graph`. Numbers with a source were measured; what metrics "
        "do not hold is marked QUESTION, and its value is assumed. A service is taken to call "
        "others equally often for each of its callers. Edit this file freely."
    ),
    "service_graph.latencies": "mean latencies in the metrics",
    "service_graph.period": "Period: {start}, {seconds}; {spans} series",
    "service_graph.recorded_users": (
        "QUESTION: how many users were active in this period? Until you replace 100, the "
        "population is a percentage of the measured traffic: capacity 250 means 2.5 times as much."
    ),
    "service_graph.recorded_users_source": "assumed: metrics do not count users",
    "service_graph.traced": (
        "QUESTION: what share of all requests was traced? Service graphs count the requests whose "
        "spans arrive; 100 % means that each request has its trace."
    ),
    "service_graph.traced_known": "Istio counts all requests",
    "service_graph.traced_source": "assumed: metrics name no sampling probability",
    "system.all_instances": "{count} instance{s} wrote spans",
    "system.assumed": "assumed: not in the traces",
    "system.async": "started by {causes}, which does not wait for it",
    "system.calls_of": "{count} by {callers} of {of}",
    "system.calls_share": "{count} of {of}",
    "system.claims": "the rates and calls of the traces",
    "system.cores_question": (
        "QUESTION: how many cores has one instance of each service (its CPU limit), and how many "
        "instances are there? Change `*_cores` and the counts in the topology."
    ),
    "system.cpu_fitted": "{rows} windows of {file}",
    "system.cpu_measured": "# Processor time per request: CPU divided by requests, from {file}.",
    "system.cpu_question": (
        "QUESTION: how much processor time does one request take at each service? Traces have no "
        "answer: they hold elapsed time, most of which is waiting. Run `qps observe traces` again "
        "with `--cpu FILE.csv` (CPU and requests of each service over time), or replace the "
        "numbers below. Until then, results have a wide interval."
    ),
    "system.delays": (
        "Elapsed time that is not processor time: waiting for locks, disks and the network while "
        "the traces were recorded, taken as constant."
    ),
    "system.higher_load": (
        "CPU and waits were recorded at one load. At two to three times that load, the CPU per "
        "request of public tables was within 23 % of it for 90 % of them (std.trust). For plans "
        "within the recorded load, replace this by 1."
    ),
    "system.higher_load_factor": "use std.trust as trust\nlet {name} = trust.higher_load",
    "system.waits": (
        "func waits(elapsed, cost) = max(0 ms, elapsed - cost * 1 request) * {factor}"
    ),
    "system.doc": "{services} service{s} and {routes} kind{rs} of request{rs}, observed in traces",
    "system.elapsed": "{operation}: {count} request{s}, {times}",
    "system.elapsed_between": "; {network} more between caller and service",
    "system.elapsed_time": "{duration} each",
    "system.elapsed_times": "{duration} each, of which {own} outside its calls",
    "system.failed": "{share} failed",
    "system.files": "Traces: {files}",
    "system.header": (
        "Written by `qps observe traces`. Numbers with a source were measured; what traces do not "
        "hold is marked QUESTION, and its value is assumed. Edit this file freely."
    ),
    "system.in_turn": "in turn: at the same time in {share} of {both} requests only",
    "system.latencies": "mean latencies in the traces",
    "system.latency_fitted": (
        "the constant delays are what remains of the measured times after processor time"
    ),
    "system.links": "calls take no time of their own: `delay` includes the time between services",
    "system.other_routes": (
        "{count} rarer kinds of requests ({share} of all) are left out; QUESTION: do they matter?"
    ),
    "system.peer": "wrote no spans itself, so its operations are those that its callers name",
    "system.period": "Period: {start}, {seconds}; {traces} traces, {spans} spans",
    "system.rate": "{count} in {seconds}",
    "system.rate_question": (
        "QUESTION: how many {name} requests come in? The traces show no period of time."
    ),
    "system.recorded_users": (
        "QUESTION: how many users were active while the traces were recorded? Until you replace "
        "100, the population is a percentage of the recorded traffic: capacity 250 means 2.5 times "
        "as much."
    ),
    "system.recorded_users_source": "assumed: traces do not count users",
    "system.require": "QUESTION: what must hold? For example: require {{ {name}.p95 <= 500 ms }}",
    "system.retries": "{count} of {of} calls came right after one that failed",
    "system.route": "{operation} at {service}: {times}",
    "system.size_question": (
        "QUESTION: how large are these items? The traces give sizes of some calls only."
    ),
    "system.steps_together": "at the same time in {share} of {both} requests",
    "system.together_here": (
        "written in turn, as one of them is to the same service: the latency is too high"
    ),
    "system.together_many": (
        "written in turn, as there are more than {most}: the latency is too high"
    ),
    "system.traced": (
        "QUESTION: what share of all requests was traced? The spans say nothing of sampling; 100 % "
        "means that each request has its trace."
    ),
    "system.traced_by_table": (
        "The traces have {share} of the requests in {file}, if both are of the same period."
    ),
    "system.traced_known": "spans count by the sampling probability that they name",
    "system.traced_source": "assumed: spans name no sampling probability",
    "update.assumed": "measured now, assumed before: {names}",
    "update.demand_own": (
        "{name} stays as it is, as it is not fitted to a table; to replace it, add "
        "`--replace {name}`"
    ),
    "update.drifted": "{drifted} of {count} number{s} drifted",
    "update.fitted": "fit to {rows} runs in {file}",
    "update.found.call": "call `{name}`",
    "update.found.node": "service `{name}`",
    "update.found.route": "kind of requests `{name}`",
    "update.gone": "in the spec, but no longer observed: {names}; they stay",
    "update.kind.calls": "calls of {name}",
    "update.kind.calls_returns": "response size of {name}",
    "update.kind.calls_sends": "request size of {name}",
    "update.kind.calls_share": "share of requests that call {name}",
    "update.kind.cpu": "{name}",
    "update.kind.elapsed": "time outside calls of {name}",
    "update.kind.instances": "instances of {name}",
    "update.kind.limit": "limit of {name}",
    "update.kind.rate": "{name}",
    "update.kind.replicas": "{name}",
    "update.kind.retries": "{name}",
    "update.kind.work": "runs of {name}",
    "update.kind.work_share": "share of requests that run {name}",
    "update.missing": (
        "observed, but not in the spec: {names}; write a new spec with `-o`, and copy them"
    ),
    "update.more": "{more} more",
    "update.named": "replaced as you named them: {names}",
    "update.none": "none of {count} number{s} drifted",
    "update.not_written": "{spec} was not changed (`--dry-run`)",
    "update.nothing": "no number of this spec was observed in this way",
    "update.own": (
        "{name} (line {line}) stays `{text}`, as it has no source of this kind; observed: "
        "`{observed}`; to replace it, add `--replace {name}`"
    ),
    "update.tables": "{spec} uses {table} instead of {tables}, which stays as it is",
    "update.test": (
        "a number counts as drifted if the difference is not due to chance; all tests together "
        "raise a false alarm in at most {chance} of updates"
    ),
    "update.written": "{spec} is up to date; test it with `qps test {spec}`",
}
