"""Checked specs, their load graphs, and reports of simulations."""

from __future__ import annotations

from qps.compiler import ir
from qps.compiler.configure.configuration import base_configuration
from qps.compiler.diagnostics.source import Source
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import check_source


def checked(text: str) -> ir.Model:
    outcome = check_source(Source("x.qps", text))
    assert outcome.value is not None, [d.message for d in outcome.diagnostics]
    return outcome.value.model


def graph_of(text: str) -> LoadGraph:
    model = checked(text)
    return lower(model, base_configuration(model))


DESK = '''"""A desk"""
users N in 1..100
machine host { cpu 1 core, queueing mm1 }
component page { cpu 8 ms/request }
topology { node w = host }
stream job { traffic N * 1 request/s, 1 kB/request; at w { page } }
require { job.latency <= 80 ms; quantile(job.latency, 98 %) <= 2 s }
'''
