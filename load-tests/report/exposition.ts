/** Prometheus' text format, as far as the server writes it. */

export type Exposition = ReadonlyMap<string, number>;

const line = /^([a-zA-Z_:][\w:]*)(?:\{.*\})? (\S+)$/;

/** The sum over the labels of each metric, by its name. */
export function parseExposition(text: string): Exposition {
  const sums = new Map<string, number>();
  for (const each of text.split('\n')) {
    const [, name, value] = line.exec(each) ?? [];
    if (name === undefined) continue;
    const number = Number(value);
    if (Number.isFinite(number)) sums.set(name, (sums.get(name) ?? 0) + number);
  }
  return sums;
}
