/** The operations on counters as their callers saw them: what was asked, and what became of it. */
export type Fate = 'open' | 'done' | 'none' | 'unknown';

export interface Operation {
  readonly op: string;
  readonly counter: string;
  readonly what: string;
  /** The journal entry or tally entry by which its effect is known. */
  readonly mark: 'journal' | 'tally';
  readonly sends?: { readonly to: string; readonly entry: string } | undefined;
  fate: Fate;
}

export class History {
  readonly operations: Operation[] = [];
  readonly #acknowledged = new Map<string, Operation[]>();

  begin(operation: Omit<Operation, 'fate'>): Operation {
    const begun: Operation = { ...operation, fate: 'open' };
    this.operations.push(begun);
    return begun;
  }

  end(operation: Operation, fate: Fate): void {
    operation.fate = fate;
    if (fate !== 'done') return;
    const done = this.#acknowledged.get(operation.counter) ?? [];
    done.push(operation);
    this.#acknowledged.set(operation.counter, done);
  }

  /** What had been acknowledged at this counter by now. A snapshot. */
  acknowledgedAt(counter: string): readonly Operation[] {
    return [...(this.#acknowledged.get(counter) ?? [])];
  }
}
