// How many machines autoscalers have: the rule of the Kubernetes HPA, as `solver/incidents/horizontal_scaling.py` has it.

import { endOf, nearest } from "./course_steps.js";

const ROUNDING = 1e-9;

// How many machines the rule wants; of `count`, `ready` work, `lost` have failed, and the others start up.
function wantedMachines(policy, { count, ready, lost }, utilization) {
  let ratio = utilization / policy.target, measured = ready;
  if (lost && ratio < 1) {
    measured = ready + lost;
    ratio = Math.min(1, (ratio * ready + Math.max(1, 1 / policy.target) * lost) / measured);
  } else if (ratio > 1) {
    measured = count;
    ratio = Math.max(1, (ratio * ready) / count);
  }
  const wanted = Math.abs(ratio - 1) > policy.tolerance ? Math.ceil(ratio * measured - ROUNDING) : count;
  return Math.min(Math.max(wanted, policy.least), policy.most);
}

class HorizontalScaler {
  constructor(policy) {
    Object.assign(this, { policy, count: policy.atStart, ready: policy.atStart, nextSync: policy.sync, starting: [], wanted: [], added: [], changedAt: 0, lost: 0 });
  }

  haveLost(machines) {
    const gone = Math.min(machines, this.ready + this.lost);
    this.ready += this.lost - gone;
    this.lost = gone;
  }

  startUp(now) {
    while (this.starting.length && this.starting[0][0] <= now) this.ready += this.starting.shift()[1];
  }

  synchronize(now, utilization) {
    const { policy } = this;
    this.nextSync = Math.max(this.nextSync, now - policy.sync) + policy.sync;
    if (this.ready === 0) return; // nothing is measured
    const wanted = wantedMachines(policy, this, utilization);
    this.wanted = this.wanted.filter(([at]) => at > now - policy.stabilization);
    this.wanted.push([now, wanted]);
    if (wanted > this.count) this.add(now, wanted);
    else if (wanted < this.count) this.remove(now, Math.min(this.count, Math.max(...this.wanted.map(([, many]) => many))));
  }

  add(now, wanted) {
    const { policy } = this;
    this.added = this.added.filter(([at]) => at > now - policy.period + ROUNDING);
    const before = this.count - this.added.reduce((sum, [, many]) => sum + many, 0);
    const most = before + Math.max(nearest(policy.step), Math.floor(policy.growth * before + ROUNDING));
    const many = Math.min(wanted, most) - this.count;
    if (many <= 0) return;
    this.added.push([now, many]);
    this.starting.push([now + policy.startup, many]);
    this.count += many;
    this.changedAt = now;
  }

  // Removes machines, first those that do not work yet, or no more.
  remove(now, wanted) {
    let many = this.count - wanted;
    if (many <= 0) return;
    this.count = wanted;
    this.changedAt = now;
    while (many > 0 && this.starting.length) {
      const [due, starting] = this.starting.pop();
      if (starting > many) this.starting.push([due, starting - many]);
      many -= Math.min(many, starting);
    }
    const failed = Math.min(many, this.lost);
    this.lost -= failed;
    this.ready -= many - failed;
  }
}

// All autoscalers of a system that is followed in steps: what they see, and what they do.
export class MachineScaling {
  constructor(system) {
    this.system = system;
    this.end = endOf(system);
    this.scalers = system.scalers.map((one) => new HorizontalScaler(one));
    this.busy = system.scalers.map(() => [0, 0]);
    this.lost = system.scalers.map(() => 0);
  }

  get ready() { return this.scalers.map((one) => one.ready); }

  // How many times the stated machines of a node work.
  partOf(node) {
    const scaler = this.scalers.find((one) => one.policy.node === node);
    return scaler ? scaler.ready / scaler.policy.count : 1;
  }

  startStep(now) {
    this.scalers.forEach((scaler, i) => {
      scaler.startUp(now);
      const own = this.system.capacityChanges.filter((one) => one.node === scaler.policy.node && one.start <= now && now < one.end);
      const lost = own.reduce((sum, one) => sum + one.machines, 0);
      if (lost === this.lost[i]) return;
      this.lost[i] = lost;
      scaler.haveLost(lost);
    });
  }

  // The autoscaler of a node sees how busy its busiest station was in a step.
  observe(station, used) {
    if (!station.isProcessor) return;
    const busy = used * (1 - station.background) + station.background;
    this.scalers.forEach((scaler, i) => {
      if (scaler.policy.node === station.node) this.busy[i][1] = Math.max(this.busy[i][1], busy);
    });
  }

  endStep(end, step) {
    this.scalers.forEach((scaler, i) => {
      const seen = this.busy[i];
      seen[0] += seen[1] * step * scaler.ready;
      seen[1] = 0;
      if (end < scaler.nextSync) return;
      scaler.synchronize(end, Math.min(1, seen[0] / (scaler.policy.sync * Math.max(1, scaler.ready))));
      seen[0] = 0;
    });
  }

  isAtRest(now) {
    return this.scalers.every((one) => !one.starting.length && now - Math.max(one.changedAt, this.end) > one.policy.stabilization + 2 * one.policy.sync);
  }
}
