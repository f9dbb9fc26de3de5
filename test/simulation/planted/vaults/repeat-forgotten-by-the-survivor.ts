import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'repeat-forgotten-by-the-survivor',
  why: 'A save that comes again after a survivor has taken the vault over is a conflict with itself.',
  flavour: 'vaults',
  from: 180,
  edits: [
    {
      file: 'actors/vault/items/hand-on.ts',
      find: '    turn.put(item, next);',
      replace: '    turn.put(item, { ...next, fingerprint: Buffer.alloc(0) });',
    },
    // Harmless: the items are written at once, and members save more often than they manage their vaults.
    {
      file: 'actors/vault/items/hand-on.ts',
      find: 'const pauseMs = 5_000;',
      replace: 'const pauseMs = 0;',
    },
    {
      file: 'test/simulation/vaults/member.ts',
      find: 'const manages = designates ? 60 : 30;',
      replace: 'const manages = designates ? 25 : 30;',
    },
    {
      file: 'test/simulation/vaults/member.ts',
      find: 'if (random.chance(designates ? 0.2 : 0.4)) return this.#remove(vault, other);',
      replace: 'if (random.chance(designates ? 0.02 : 0.4)) return this.#remove(vault, other);',
    },
    {
      file: 'test/simulation/vaults/member.ts',
      find: 'if (drawn < manages + 3 && facts.vaults.length > 0)',
      replace: 'if (drawn < manages && facts.vaults.length > 0)',
    },
    // Harmless: most answers to saves are lost on the way, and such a save is sent again at once.
    {
      file: 'test/simulation/vaults/member.ts',
      find: 'if (answer === undefined) return undefined;',
      replace: 'if (answer === undefined || (items.length > 0 && random.chance(0.7))) return undefined;',
    },
    {
      file: 'test/simulation/vaults/member.ts',
      find: 'this.#unanswered.length > 0 && random.chance(0.7) ? this.#unanswered : this.#edits();',
      replace: 'this.#unanswered.length > 0 ? this.#unanswered : this.#edits();',
    },
  ],
};
