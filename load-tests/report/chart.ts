/** A line chart over the slices of a run, as self-contained SVG. */
import { numberText } from './text.ts';

export interface Line {
  readonly title: string;
  /** By slice; undefined if nothing was measured. */
  readonly values: readonly (number | undefined)[];
  /** Drawn beside the first one, for example the baseline. */
  readonly isFaint?: boolean;
}

export interface Chart {
  readonly title: string;
  readonly unit: string;
  readonly lines: readonly Line[];
  readonly durationSeconds: number;
}

const width = 340;
const height = 130;
const margin = { left: 48, right: 8, top: 8, bottom: 18 };
const plotWidth = width - margin.left - margin.right;
const plotHeight = height - margin.top - margin.bottom;

export function chart({ title, unit, lines, durationSeconds }: Chart): string {
  const top = roundUp(
    Math.max(0, ...lines.flatMap(({ values }) => values.filter((value) => value !== undefined))),
  );
  const grid = [0, 0.5, 1].map((share) => {
    const y = margin.top + plotHeight * (1 - share);
    return `<line x1="${margin.left}" y1="${y}" x2="${width - margin.right}" y2="${y}"/><text x="${margin.left - 5}" y="${y + 3}" text-anchor="end">${numberText(top * share)}</text>`;
  });
  const drawn = lines.map(
    (line, index) =>
      `<path class="line-${index}${line.isFaint ? ' faint' : ''}" d="${pathOf(line.values, top)}"/>`,
  );
  return `<figure><figcaption>${escapeText(title)} <small>${escapeText(unit)}</small> ${legendOf(lines)}</figcaption>
<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeText(title)}"><g class="grid">${grid.join('')}<text x="${margin.left}" y="${height - 4}">0 s</text><text x="${width - margin.right}" y="${height - 4}" text-anchor="end">${numberText(durationSeconds)} s</text></g>${drawn.join('')}</svg></figure>`;
}

/** Leaves out a line that stands alone, which the title names already. */
function legendOf(lines: readonly Line[]): string {
  const own = lines.filter(({ isFaint }) => !isFaint).length;
  return lines
    .map(({ title, isFaint }, index) =>
      isFaint || own > 1
        ? `<span class="key-${index}${isFaint ? ' faint' : ''}">${isFaint ? '┄ ' : ''}${escapeText(title)}</span>`
        : '',
    )
    .join(' ');
}

/** It crosses an unmeasured slice in a straight line. */
function pathOf(values: Line['values'], top: number): string {
  const step = plotWidth / Math.max(1, values.length - 1);
  const points = values.flatMap((value, index) => {
    if (value === undefined) return [];
    const y = margin.top + plotHeight * (1 - value / top);
    return [`${(margin.left + index * step).toFixed(1)} ${y.toFixed(1)}`];
  });
  return points.length === 0 ? '' : `M${points.join('L')}`;
}

/** To 1, 2 or 5 times a power of ten. */
function roundUp(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const factor = [1, 2, 5, 10].find((times) => times * power >= value) ?? 10;
  return factor * power;
}

export const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
