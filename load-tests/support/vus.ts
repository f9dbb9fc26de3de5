/** How many VUs there may be, because the memory of the load generators is bounded. */

interface WithVus {
  readonly preAllocatedVUs: number;
  readonly maxVUs?: number;
}

/** First the initial VUs of each scenario, then the rest as each wants. */
export function withinVus<T extends WithVus>(
  scenarios: Readonly<Record<string, T>>,
  vusMax: number,
): Readonly<Record<string, T>> {
  const all = Object.values(scenarios);
  const first = sum(all.map(({ preAllocatedVUs }) => preAllocatedVUs));
  const further = sum(all.map(furtherOf));
  const shareOfFirst = Math.min(1, vusMax / first);
  const shareOfFurther = Math.min(1, Math.max(0, vusMax - first) / Math.max(1, further));
  return Object.fromEntries(
    Object.entries(scenarios).map(([name, scenario]) => {
      const preAllocatedVUs = Math.max(1, Math.floor(scenario.preAllocatedVUs * shareOfFirst));
      const maxVUs = preAllocatedVUs + Math.floor(furtherOf(scenario) * shareOfFurther);
      return [name, { ...scenario, preAllocatedVUs, maxVUs }];
    }),
  );
}

const furtherOf = ({ preAllocatedVUs, maxVUs = preAllocatedVUs }: WithVus): number =>
  maxVUs - preAllocatedVUs;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
