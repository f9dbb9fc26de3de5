/**
 * What an import has read, and the result: for every table the rows that were imported, and those that were not, by reason. It
 * takes the same memory for a million rows as for one, so single findings are kept up to a bound.
 */
import { countedTables } from './source/tables.ts';

export type Tally = (typeof countedTables)[number] | 'files';

export interface ImportFinding {
  readonly table: Tally;
  readonly reason: string;
  readonly uuid: string;
  /** The row was imported all the same, but with a difference. */
  readonly imported: boolean;
}

interface ReportCounts {
  read: number;
  written: number;
  unchanged: number;
  readonly skipped: Map<string, number>;
}

const findingsMax = 10_000;

/** Reasons that ask for an operator's attention. The others are expected. */
const wanting: ReadonlySet<string> = new Set([
  'not-text',
  'too-large',
  'taken',
  'native',
  'key-params',
  'address-of-another',
  'differs',
  'not-opened-by-the-key',
  'unreadable',
]);

export class ImportReport {
  readonly #counts = new Map<Tally, ReportCounts>(
    [...countedTables, 'files' as const].map((name) => [name, noCounts()]),
  );
  readonly #findings: ImportFinding[] = [];
  #omitted = 0;
  #bytes = 0;
  isWanting = false;
  /** Accounts that may sign in since this pass. Each keeps the hash of the other server until its first sign-in. */
  opened = 0;
  locked = 0;
  /** Shared vaults that are gone here, because the other server has deleted them. */
  endedVaults = 0;

  read(table: Tally, rows: number): void {
    this.#of(table).read = rows;
  }

  written(table: Tally, rows: number): void {
    this.#of(table).written += rows;
  }

  unchanged(table: Tally, rows: number): void {
    this.#of(table).unchanged += rows;
  }

  bytes(count: number): void {
    this.#bytes += count;
  }

  skipped(table: Tally, reason: string, uuid: string, rows = 1): void {
    const { skipped } = this.#of(table);
    skipped.set(reason, (skipped.get(reason) ?? 0) + rows);
    this.#find({ table, reason, uuid, imported: false });
  }

  /** The row was imported, and the operator may want to know this about it. */
  note(table: Tally, reason: string, uuid: string): void {
    this.#find({ table, reason, uuid, imported: true });
  }

  ended(vaultUuid: string): void {
    this.endedVaults += 1;
    this.#find({ table: 'shared_vaults', reason: 'deleted-there', uuid: vaultUuid, imported: false });
  }

  /** Counts rows that no part of the import reached, because their owner, item or vault is gone. */
  settle(table: Tally, reason: string): void {
    const counts = this.#of(table);
    const left = counts.read - accounted(counts);
    if (left > 0) counts.skipped.set(reason, (counts.skipped.get(reason) ?? 0) + left);
  }

  itemsWritten(): number {
    return this.#of('items').written;
  }

  securityKeys(): number {
    return this.#of('authenticators').written;
  }

  rows(): readonly (readonly [string, number, number, number, number, string])[] {
    return [...this.#counts].map(([name, { read, written, unchanged, skipped }]) => {
      const all = [...skipped].toSorted(([a], [b]) => (a < b ? -1 : 1));
      const sum = all.reduce((total, [, rows]) => total + rows, 0);
      return [
        name,
        read,
        written,
        unchanged,
        sum,
        all.map(([reason, rows]) => `${reason} ${rows}`).join(', '),
      ];
    });
  }

  document(): object {
    const tables = [...this.#counts].map(([name, { read, written, unchanged, skipped }]) => [
      name,
      { read, written, unchanged, skipped: Object.fromEntries(skipped) },
    ]);
    return {
      tables: Object.fromEntries(tables),
      itemBytes: this.#bytes,
      opened: this.opened,
      locked: this.locked,
      endedVaults: this.endedVaults,
      findings: this.#findings,
      findingsOmitted: this.#omitted,
    };
  }

  #find(finding: ImportFinding): void {
    if (wanting.has(finding.reason)) this.isWanting = true;
    if (this.#findings.length < findingsMax) this.#findings.push(finding);
    else this.#omitted += 1;
  }

  #of(table: Tally): ReportCounts {
    const found = this.#counts.get(table);
    if (found === undefined) throw new Error(`nothing is counted of ${table}`);
    return found;
  }
}

const noCounts = (): ReportCounts => ({ read: 0, written: 0, unchanged: 0, skipped: new Map() });

const accounted = ({ written, unchanged, skipped }: ReportCounts): number =>
  [...skipped.values()].reduce((sum, rows) => sum + rows, written + unchanged);
