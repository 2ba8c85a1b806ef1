"""The disciplines, and what each comes to."""

from __future__ import annotations

from qps.compiler import ir
from qps.compiler.lower.disciplines.cpu_quota import CpuQuota
from qps.compiler.lower.disciplines.finite_room import FiniteRoom
from qps.compiler.lower.disciplines.loss_system import Loss
from qps.compiler.lower.disciplines.multiple_servers import (
    FixedServers,
    GeneralServers,
    SeveralServers,
)
from qps.compiler.lower.disciplines.periodic_arrivals import Periodic
from qps.compiler.lower.disciplines.priority_queue import ByPriority, Preemptive
from qps.compiler.lower.disciplines.processor_sharing import SharingAtSpeeds, SharingLaw
from qps.compiler.lower.disciplines.single_server import OneServer
from qps.compiler.lower.queues.station_queue import DisciplineLaw

LAWS: dict[ir.Discipline, DisciplineLaw] = {
    ir.Discipline.MM1: OneServer(),
    ir.Discipline.MD1: OneServer(),
    ir.Discipline.MG1: OneServer(),
    ir.Discipline.MMC: SeveralServers(),
    ir.Discipline.MDC: FixedServers(),
    ir.Discipline.MGC: GeneralServers(),
    ir.Discipline.PS: SharingLaw(),
    ir.Discipline.PRIORITY: ByPriority(),
    ir.Discipline.LOSS: Loss(),
    ir.Discipline.QUOTA: CpuQuota(),
    ir.Discipline.PERIODIC: Periodic(),
}


def law_of(queueing: ir.Queueing) -> DisciplineLaw:
    """Return what a discipline comes to, with what is said of it."""
    if queueing.room is not None:
        return FiniteRoom()
    if queueing.is_preemptive:
        return Preemptive()
    return SharingAtSpeeds() if queueing.speeds else LAWS[queueing.discipline]
