// An axis of the hours of a day or a week: values are hours since its start.

const STEPS = [1, 2, 3, 6, 12, 24, 48]; // hours
const HOURS_OF_A_DAY = 24;

export function clockAxis({ name, values, scale: [factor], cycle, days }) {
  const hours = Float64Array.from(values, (v) => v / factor);
  const last = hours.at(-1), isOfWeek = days.length > 0;
  const day = (v) => days[Math.floor(v / HOURS_OF_A_DAY) % days.length];
  const text = (v) => {
    const minute = Math.round(v * 60), within = minute === cycle && !isOfWeek ? minute : minute % (HOURS_OF_A_DAY * 60);
    return [Math.floor(within / 60), within % 60].map((part) => String(part).padStart(2, "0")).join(":");
  };
  return {
    label: name, values: hours, isLog: false,
    format: (v) => (isOfWeek && v % HOURS_OF_A_DAY === 0 ? day(v) : text(v)),
    formatValue: (v) => (isOfWeek ? `${day(v)} ${text(v)}` : text(v)),
    ticks(wanted) {
      const step = STEPS.find((hour) => last / hour <= wanted && (!isOfWeek || hour >= HOURS_OF_A_DAY)) ?? STEPS.at(-1);
      const found = [];
      for (let hour = 0; hour <= last; hour += step) if (!isOfWeek || hour < last) found.push(hour);
      return found;
    },
  };
}
