"""The page of a plan with all of its sections, also that of purchases."""

from __future__ import annotations

from msgspec.structs import replace

import qps
from qps.compiler.configure.configuration import base_configuration
from qps.compiler.quantities.calendar_dates import CalendarDate
from qps.reports.pages.html_page import render_plan
from qps.reports.pages.plan_page import plan_page
from qps.solver.calendar.purchase_plan import purchase_plan
from qps.solver.cheapest.plan_answer import plan

GROWING = """
users N in 1..100_000
calendar date in 2026-12..2028-12
forecast N = 2_000 * 1.2^date
machine vm { cpu 2 core, queueing mmc; price 60 $/month }
component serve { cpu 8 ms/request }
topology { node web = vm * 2 }
stream page for each user { traffic 0.1 request/s; at web { serve } }
require { web.cpu.utilization <= 50 % }
choose { web in [vm * 1..40] }
"""


def html_of_plan() -> str:
    """Return the page of a plan until April 2027."""
    model = qps.loads(GROWING).spec.model
    configuration, choices = base_configuration(model), model.choices[0]
    found = plan(model, configuration, choices, 4_148)
    bought = purchase_plan(model, configuration, choices, CalendarDate(2027, 4))
    return render_plan(plan_page(replace(found, purchases=bought), "site.qps"))
