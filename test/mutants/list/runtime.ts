/** Of the runtime only what no planted bug covers: the simulator is the judge of everything else there. */
import type { Mutant } from '../mutant.ts';

export const mutants: readonly Mutant[] = [
  {
    name: 'one-key-for-every-purpose',
    harm: 'A token of one kind passes as one of another.',
    file: 'runtime/keyring.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a piece of source
    find: '`scriptorium/${purpose}`',
    replace: "'scriptorium'",
    tests: ['runtime/keyring.test.ts'],
  },
  {
    name: 'a-short-root-secret',
    harm: 'Every key can be guessed.',
    file: 'runtime/keyring.ts',
    find: "if (rootSecret.length !== rootSecretBytes) throw new RangeError('The root secret has to be 32 bytes.');",
    replace: '',
    tests: ['runtime/keyring.test.ts'],
  },
  {
    name: 'replies-sealed-under-a-name-that-is-told',
    harm: 'Whoever reads the database reads the tokens of sessions just opened.',
    file: 'runtime/actor/recorded-calls.ts',
    find: "hkdfSync('sha256', callId, '', 'recorded call reply', 32)",
    replace: "hkdfSync('sha256', '', '', 'recorded call reply', 32)",
    tests: ['runtime/actor/recorded-calls.test.ts'],
  },
  {
    name: 'a-reply-that-anybody-may-change',
    harm: 'Whoever writes the database hands out sessions of his own.',
    file: 'runtime/actor/recorded-calls.ts',
    find: 'open.update(sealed), open.final()',
    replace: 'open.update(sealed)',
    tests: ['runtime/actor/recorded-calls.test.ts'],
  },
  {
    name: 'a-late-claim-that-is-taken',
    harm: 'A host that has ended serves shards that another one has by now.',
    file: 'runtime/ownership/ownership.ts',
    find: '      if (this.#ended) return;\n      this.#take(claimed);',
    replace: '      this.#take(claimed);',
    tests: ['runtime/ownership/ownership.test.ts'],
    match: 'the answer of a claim is not taken*',
  },
  {
    name: 'unchanged-marker-that-a-commit-does-not-clear',
    harm: 'A removed member is let in, and a change hidden, for as long as somebody remembers their last read.',
    file: 'runtime/actor/actor.ts',
    find: '    this.#clearUnchangedMarker();\n',
    replace: '',
    tests: ['runtime/host/cross-owner-reads.test.ts'],
  },
  {
    name: 'unchanged-marker-of-another-claim',
    harm: 'What another host committed meanwhile is hidden.',
    file: 'runtime/read/unchanged-since.ts',
    find: '    return !isCleared && this.#options.epochOf(shard) === epoch;',
    replace: '    return !isCleared;',
    tests: ['runtime/read/unchanged-since.test.ts'],
  },
];
