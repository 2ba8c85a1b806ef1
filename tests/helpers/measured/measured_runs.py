"""What `qps measure` would have measured: values, made without running anything."""

from __future__ import annotations

from msgspec.structs import replace

from qps.compiler.measurement.campaigns.campaign_axes import CampaignAxis
from qps.compiler.measurement.campaigns.measured_rows import SettingRow, TableLayout
from qps.compiler.measurement.campaigns.row_doubts import Doubt
from qps.compiler.measurement.campaigns.run_conditions import Conditions
from qps.compiler.measurement.campaigns.run_results import FailedRun
from qps.compiler.measurement.campaigns.step_runs import ItemCost, StepCosts, StepRun
from qps.reports.text.measurements.measurement_text import MeasuredView

SETTING = ("20",)
AXIS = CampaignAxis(name="clients", values=SETTING)
ROW = SettingRow(
    setting=SETTING,
    repetitions=3,
    loads={"cpu": 0.4},
    rates={"request": 80.0},
    seconds=4.0,
    elapsed=10.0,
    each=0.005,
    spread=0.02,
    generator=0.1,
    others=0.01,
    stolen=0.0,
    busiest=0.4,
    generator_busiest=0.1,
    requested_rates={"request": 80.0},
    notes=(),
)
MEASURED = MeasuredView(
    table="t.csv",
    runs_file="t.runs.jsonl",
    layout=TableLayout(axes=(AXIS,), items=("request",), cores=1.0, machine_cores=2),
    rows=(ROW, replace(ROW, setting=(), each=None, requested_rates={})),
    doubts=(Doubt("spread", (SETTING,), "off by 9 %"),),
    failures=(FailedRun(SETTING, 2, "it ended with 1"),),
    conditions=Conditions(
        date="2026-11-23",
        host="here",
        system="Linux",
        processor="a processor",
        cores=2,
        usable_cores=1.0,
        loopback_mtu=65536,
        python="3.11",
        qps="1",
        accounts={"server": "cgroup"},
        recorded={},
    ),
    run_count=3,
    planned_count=4,
    stopped=None,
    own_units=(),
)
STEP = StepCosts(
    item="frame",
    costs=(ItemCost("frame", 0.001, 0.0001), ItemCost("byte", 1e-9, None)),
    runs=(StepRun(SETTING, 10.0, 1000.0, 0.01),),
    missed=0.02,
)
