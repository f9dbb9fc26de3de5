/** The calls on counters as their callers saw them: the request and its outcome. */
export type Fate = 'open' | 'done' | 'none' | 'unknown';

export interface Call {
  readonly op: string;
  readonly counter: string;
  readonly what: string;
  /** The journal entry or tally entry that shows its effect. */
  readonly recordedIn: 'journal' | 'tally';
  readonly sends?: { readonly to: string; readonly entry: string } | undefined;
  fate: Fate;
}

export class History {
  readonly calls: Call[] = [];
  readonly #acknowledged = new Map<string, Call[]>();

  begin(call: Omit<Call, 'fate'>): Call {
    const begun: Call = { ...call, fate: 'open' };
    this.calls.push(begun);
    return begun;
  }

  end(call: Call, fate: Fate): void {
    call.fate = fate;
    if (fate !== 'done') return;
    const done = this.#acknowledged.get(call.counter) ?? [];
    done.push(call);
    this.#acknowledged.set(call.counter, done);
  }

  /** Everything acknowledged at this counter by now. A snapshot. */
  acknowledgedAt(counter: string): readonly Call[] {
    return [...(this.#acknowledged.get(counter) ?? [])];
  }
}
