"""Phrases of `qps start`."""

from __future__ import annotations

_LOAD_TEST = """\
1. Convert the results, together with the CPU usage of the server during the test
   (pidstat, sar, vmstat, docker stats, a table):
     qps observe RESULTS CPU -o runs.csv
2. Fit the service demands; the output contains a component to paste:
     qps fit runs.csv --cores 4
3. Write a spec around it, and solve it:
     qps new site
     qps solve site.qps
"""
_TRACES = """\
1. Write a spec of the system that the traces show:
     qps observe traces FILES -o system.qps
2. Answer its lines marked QUESTION. Traces do not contain processor time: add it
   with --cpu FILE.csv (CPU usage and request rate of each service).
3. Solve it:
     qps solve system.qps
"""
_METRICS = """\
1. Export counters from Prometheus, over some days:
     qps observe prometheus URL --since 7d --cpu QUERY --rate request=QUERY -o runs.csv
2. Fit the service demands; the output contains a component to paste:
     qps fit runs.csv --cores 4
3. Write a spec around it, and solve it:
     qps new site
     qps solve site.qps
"""
_MANIFESTS = """\
1. Write a spec of the machines, counts and limits:
     qps observe manifests FILES -o system.qps
2. Answer its lines marked QUESTION: rates, processor time, and which services a
   request uses.
3. Solve it:
     qps solve system.qps
"""
_NOTHING = """\
1. Write a small working spec; `qps new --help` lists examples:
     qps new site
2. Solve it, and see which inputs matter:
     qps solve site.qps
3. Replace its numbers with your own. Mark estimates as uncertain: `8 ms +- 50 %`.
"""

START_PHRASES: dict[str, str] = {
    "start.about.load-test": "results of a load generator, or a table",
    "start.about.manifests": "Kubernetes, compose or Terraform",
    "start.about.metrics": "a Prometheus server",
    "start.about.nothing": "an idea of the system",
    "start.about.traces": "distributed traces from OpenTelemetry, Jaeger or Zipkin",
    "start.choose": "\nName it, for example: qps start --from load-test\n",
    "start.prompt": "\nNumber or name (1 to {most}): ",
    "start.question": "What do you have?\n\n",
    "start.steps.load-test": _LOAD_TEST,
    "start.steps.manifests": _MANIFESTS,
    "start.steps.metrics": _METRICS,
    "start.steps.nothing": _NOTHING,
    "start.steps.traces": _TRACES,
}
