/** What keeps one part's trouble from others where the simulator has no such part: transport, files and clocks. */
import type { Mutant } from '../mutant.ts';

const pulls = ['runtime/transport/nats/pulls.test.ts'];

export const mutants: readonly Mutant[] = [
  {
    name: 'large-replies-that-wait-for-each-other',
    harm: 'Large replies of a process that stands still hold up those of all others.',
    file: 'runtime/transport/nats/pulls.ts',
    find: 'this.#holderAt(held.from)',
    replace: "this.#holderAt('any')",
    tests: pulls,
  },
  {
    name: 'a-holder-that-is-waited-for-again-and-again',
    harm: 'Every reply of a process that stands still is waited for, one after another.',
    file: 'runtime/transport/nats/pulls.ts',
    find: 'if (clock.monotonicMs() - askedMs >= partMs) this.#drop(holder, subject);',
    replace: '',
    tests: pulls,
  },
  {
    name: 'heartbeats-that-look-like-a-loss',
    harm: 'After a short cut from NATS every client of the server syncs at once, although nothing was lost.',
    file: 'runtime/events/publisher.ts',
    find: '      const { sequence } = sent;\n',
    replace: '      sent.sequence += 1;\n      const { sequence } = sent;\n',
    tests: ['runtime/events/publisher.test.ts'],
  },
  {
    name: 'a-file-deleted-while-it-may-still-arrive',
    harm: 'A late commit of a move makes a file of a user whose chunks are gone.',
    file: 'actors/files/transfer.ts',
    find: '  if (applied === false) return undefined;\n',
    replace: '  if (applied !== true) return undefined;\n',
    tests: ['test/races/file-moves.test.ts'],
    match: 'a file whose move was given up*',
  },
  {
    name: 'a-host-whose-clock-is-wrong',
    harm: 'A host whose clock is an hour ahead ends sessions and shares an hour early.',
    file: 'runtime/ownership/lease.ts',
    find: '      this.isClockRight &&\n',
    replace: '',
    tests: ['runtime/ownership/lease.test.ts'],
  },
];
