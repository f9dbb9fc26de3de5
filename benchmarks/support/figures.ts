export function printFigures(title: string, figures: Readonly<Record<string, number>>): void {
  console.log(`\n${title}`);
  for (const [figure, value] of Object.entries(figures))
    console.log(`  ${figure.padEnd(44)} ${format(value)}`);
}

export function format(value: number): string {
  if (value === 0) return '0';
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);
}
