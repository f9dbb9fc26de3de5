import { parseArgs } from 'node:util';

/** The numbers of the command line, such as `--seconds 5`. */
export function numberOptions<Name extends string>(
  defaults: Readonly<Record<Name, number>>,
): Readonly<Record<Name, number>> {
  const numbers = Object.entries<number>(defaults);
  const { values } = parseArgs({
    options: Object.fromEntries(numbers.map(([name]) => [name, { type: 'string' as const }])),
  });
  const given = numbers.map(([name, number]) => [name, Number(values[name] ?? number)]);
  return Object.fromEntries(given) as Record<Name, number>;
}
