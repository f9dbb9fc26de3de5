import test from 'ava';
import fc from 'fast-check';
import { ModelDatabase, ModelStore } from '../../test/kit/model-store/model-store.ts';
import { type CrossOwnerPlan, crossOwner, range } from '../command.ts';
import { NegativeCache } from '../read/negative-cache.ts';
import { UnchangedSince } from '../read/unchanged-since.ts';
import type { StoreRead, Write } from '../store/store.ts';
import { type RowOf, table } from '../table.ts';
import { answerPlans, type ReadRequest, sharedResults } from './reads.ts';

const shape = {
  columns: { owner: 'text', name: 'text', position: 'int8', size: 'int8' },
  key: ['owner', 'name'],
  order: 'position',
  size: 'size',
} as const;
const note = table({ name: 'note', ...shape });
const letter = table({ name: 'letter', ...shape });
const member = table({
  name: 'member',
  columns: { owner: 'text', member: 'text' },
  key: ['owner', 'member'],
});
const membership = { table: member, member: 'me' };

/** Owners that authorize nobody by commits have no versions. */
const knowsNothing = () =>
  new NegativeCache({
    unchangedMarkers: { of: () => undefined, holds: () => false },
    kindOf: () => undefined,
  });

const row = (owner: string, name: string, position: number): RowOf<typeof note> => ({
  owner,
  name,
  position,
  size: 10,
});

test('each owner that authorizes the reader has its rows and the position to go on from', async (t) => {
  const owners = ['a', 'b', 'c'].map((owner, index) => ({ owner, after: index }));
  const plans = { shared: crossOwner(note, { membership, owners, limit: 9 }) };
  const rows = [row('a', 'x', 4), row('a', 'y', 7)];
  const authorized = [
    { owner: 'a', complete: true },
    { owner: 'c', complete: false },
  ];
  const requests: StoreRead[] = [];
  const ask: ReadRequest = async (reads) => {
    requests.push(...reads);
    return [{ rows, complete: false, authorized }];
  };
  const results = sharedResults(
    plans,
    await answerPlans(plans, 'me', { negativeCache: knowsNothing() }, ask),
  );
  t.deepEqual(requests, [{ read: 'crossOwner', table: note, membership, owners, limit: 9 }]);
  t.deepEqual(results.shared.owners, [
    { owner: 'a', rows, complete: true, upTo: 7 },
    { owner: 'c', rows: [], complete: false, upTo: 2 },
  ]);
});

test('a read of no owners does not ask the store', (t) => {
  const plans = { shared: crossOwner(note, { membership, owners: [], limit: 9 }) };
  const ask: ReadRequest = () => Promise.reject(new Error('asked'));
  const answers = answerPlans(plans, 'me', { negativeCache: knowsNothing() }, ask);
  if (answers instanceof Promise) return t.fail();
  t.deepEqual(sharedResults(plans, answers), { shared: { owners: [], isQuiet: true } });
});

test('each read of a plan has its own answer, from the store or from what is known to be unchanged', async (t) => {
  const quietLimit = 1;
  const from = (owner: string) => ({ membership, owners: [{ owner, after: 3 }] });
  const all = { after: 0, through: 9, limit: 9 };
  const plans = {
    notes: range(note, all),
    letters: range(letter, all),
    quietNotes: crossOwner(note, { ...from('a'), limit: quietLimit }),
    quietLetters: crossOwner(letter, { ...from('b'), limit: quietLimit }),
    shared: crossOwner(note, { ...from('c'), limit: 9 }),
    sharedLetters: crossOwner(letter, { ...from('d'), limit: 9 }),
  };
  const ask: ReadRequest = async (reads) =>
    reads.map((read) => {
      if (read.read === 'crossOwner')
        return {
          rows: [],
          complete: true,
          authorized: read.owners.map(({ owner }) => ({ owner, complete: true })),
        };
      return { rows: [row('me', read.read === 'range' ? read.table.name : '', 1)], complete: true };
    });
  const negativeCache = Object.assign(knowsNothing(), {
    isQuiet: ({ limit }: { readonly limit: number }) => limit === quietLimit,
  });
  const results = sharedResults(plans, await answerPlans(plans, 'me', { negativeCache }, ask));
  const namesIn = ({ rows }: { readonly rows: readonly { readonly name: string }[] }) =>
    rows.map(({ name }) => name);
  t.deepEqual([namesIn(results.notes), namesIn(results.letters)], [['note'], ['letter']]);
  const { quietNotes, quietLetters, shared, sharedLetters } = results;
  t.deepEqual(
    [quietNotes, quietLetters, shared, sharedLetters].map(({ owners: [first] }) => [
      first?.owner,
      first?.upTo,
    ]),
    [
      ['a', 3],
      ['b', 3],
      ['c', 3],
      ['d', 3],
    ],
  );
});

/** A database with owners that commit notes, each at the next position, and authorize the reader or not. */
class Owners {
  readonly #database = new ModelDatabase({ nowMs: () => 0 });
  readonly #heads = new Map<string, { version: number; position: number }>();
  readonly names: readonly string[];

  constructor(names: readonly string[]) {
    this.names = names;
    for (const id of names) {
      this.#database.activate({ kind: 'vault', id }, 1, true);
      this.#heads.set(id, { version: 0, position: 0 });
    }
  }

  save(owner: string, ...names: readonly string[]): void {
    let { position } = this.#headOf(owner);
    const writes = names.map((name): Write => {
      position += 1;
      return { table: note, put: row(owner, name, position), isNew: false };
    });
    this.#commit(owner, writes);
    this.#heads.set(owner, { ...this.#headOf(owner), position });
  }

  admit(owner: string, isAdmitted: boolean): void {
    const key = { owner, member: 'me' };
    this.#commit(owner, [
      isAdmitted ? { table: member, put: key, isNew: false } : { table: member, remove: key },
    ]);
  }

  notesOf(owner: string): ReadonlyMap<string, number> {
    const read = { read: 'range', table: note, owner, after: 0, through: 1e6, limit: 1e6 } as const;
    const { rows } = this.#database.read(read);
    return new Map(rows.map(({ name, position }) => [String(name), Number(position)]));
  }

  async read(
    plan: CrossOwnerPlan<typeof note>,
    { negativeCache = knowsNothing(), requests = [] as StoreRead[] } = {},
  ) {
    const store = new ModelStore(this.#database);
    const ask: ReadRequest = (reads) => {
      requests.push(...reads);
      return store.read(reads);
    };
    return sharedResults({ plan }, await answerPlans({ plan }, 'me', { negativeCache }, ask)).plan.owners;
  }

  #commit(owner: string, writes: readonly Write[]): void {
    const { version, position } = this.#headOf(owner);
    const commitId = `${owner}${version}`;
    this.#database.commit([{ address: { kind: 'vault', id: owner }, epoch: 1, version, commitId, writes }]);
    this.#heads.set(owner, { version: version + 1, position });
  }

  #headOf(owner: string) {
    return this.#heads.get(owner) ?? { version: 0, position: 0 };
  }
}

/** A reader that goes on from where each page ended. It has the rows that it was given. */
class Pager {
  readonly positionsOf = new Map<string, Map<string, number>>();
  readonly #after = new Map<string, number>();
  readonly #owners: Owners;

  constructor(owners: Owners) {
    this.#owners = owners;
  }

  /** Whether there is more. */
  async page(limit: number, budgetBytes?: number): Promise<boolean> {
    const positions = this.#owners.names.map((owner) => ({ owner, after: this.#after.get(owner) ?? 0 }));
    const options = { membership, owners: positions, limit };
    const plan = crossOwner(note, budgetBytes === undefined ? options : { ...options, budgetBytes });
    const pages = await this.#owners.read(plan);
    for (const { owner, rows, upTo } of pages) {
      const positions = this.positionsOf.get(owner) ?? new Map<string, number>();
      for (const { name, position } of rows) positions.set(name, position);
      this.positionsOf.set(owner, positions);
      this.#after.set(owner, upTo);
    }
    return pages.some(({ complete }) => !complete);
  }
}

/** By name. */
const ascending = (notes: ReadonlyMap<string, number> | undefined) => [...(notes ?? [])].sort();

/** The owners live on other hosts. */
const knowsVersions = () =>
  new NegativeCache({ unchangedMarkers: { of: () => undefined, holds: () => false }, kindOf: () => 'vault' });

const owner = fc.constantFrom('a', 'b', 'c');
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      save: owner,
      names: fc.uniqueArray(fc.constantFrom('x', 'y', 'z', 'w'), { minLength: 1 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ admit: owner, isAdmitted: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      limit: fc.integer({ min: 1, max: 4 }),
      budgetBytes: fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
    }),
  },
);

test('a reader that goes page by page ends with exactly what is committed, whatever came and went meanwhile', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const owners = new Owners(['a', 'b', 'c']);
      const pager = new Pager(owners);
      const authorized = new Set<string>();
      for (const each of steps) {
        if ('save' in each) owners.save(each.save, ...each.names);
        else if ('admit' in each) {
          owners.admit(each.admit, each.isAdmitted);
          if (each.isAdmitted) authorized.add(each.admit);
          else authorized.delete(each.admit);
        } else {
          const before = new Map([...pager.positionsOf].map(([name, known]) => [name, new Map(known)]));
          await pager.page(each.limit, each.budgetBytes);
          for (const name of owners.names)
            if (!authorized.has(name)) t.deepEqual(pager.positionsOf.get(name), before.get(name));
        }
      }
      for (let pages = 0; await pager.page(2, 15); pages += 1) t.true(pages < 50);
      for (const name of authorized)
        t.deepEqual(ascending(pager.positionsOf.get(name)), ascending(owners.notesOf(name)));
    }),
    { seed: 7, numRuns: 300 },
  );
});

test('owners elsewhere that have committed nothing since are not read again', async (t) => {
  const owners = new Owners(['a', 'b']);
  for (const name of owners.names) {
    owners.admit(name, true);
    owners.save(name, 'x');
  }
  const negativeCache = knowsVersions();
  const tablesAsked = async (after: number) => {
    const requests: StoreRead[] = [];
    const plan = crossOwner(note, {
      membership,
      owners: owners.names.map((name) => ({ owner: name, after })),
      limit: 9,
    });
    const result = await owners.read(plan, { negativeCache, requests });
    return [
      requests.map((read) =>
        read.read === 'crossOwner' ? read.owners.map((each) => each.owner).join() : read.read,
      ),
      result.map(({ owner: name, upTo }) => `${name} ${upTo}`),
    ];
  };
  t.deepEqual(await tablesAsked(0), [
    ['keys', 'a,b'],
    ['a 1', 'b 1'],
  ]);
  t.deepEqual(await tablesAsked(1), [['keys'], ['a 1', 'b 1']]);
  owners.save('b', 'y');
  t.deepEqual(await tablesAsked(1), [
    ['keys', 'b'],
    ['a 1', 'b 2'],
  ]);
  owners.admit('a', false);
  t.deepEqual(await tablesAsked(2), [['keys', 'a'], ['b 2']]);
});

test('an owner that commits between its version and the rows being read is read again', async (t) => {
  const owners = new Owners(['a']);
  owners.admit('a', true);
  const negativeCache = knowsVersions();
  const plan = crossOwner(note, { membership, owners: [{ owner: 'a', after: 0 }], limit: 9 });
  const requests: StoreRead[] = [];
  const first = owners.read(plan, { negativeCache, requests });
  t.is(requests.length, 1);
  owners.save('a', 'x');
  owners.admit('a', false);
  t.deepEqual(await first, []);
  owners.admit('a', true);
  const [again] = await owners.read(plan, { negativeCache });
  t.is(again?.upTo, 1);
});

test('a reader that remembers by versions gets the same rows as one that remembers nothing', async (t) => {
  const asking = fc.record({
    after: fc.dictionary(owner, fc.integer({ min: 0, max: 8 })),
    limit: fc.integer({ min: 1, max: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(step, asking), { maxLength: 40 }), async (steps) => {
      const owners = new Owners(['a', 'b', 'c']);
      const negativeCache = knowsVersions();
      for (const each of steps) {
        if ('save' in each) owners.save(each.save, ...each.names);
        else if ('admit' in each) owners.admit(each.admit, each.isAdmitted);
        else if ('after' in each) {
          const positions = Object.entries(each.after).map(([name, after]) => ({ owner: name, after }));
          const plan = crossOwner(note, { membership, owners: positions, limit: each.limit });
          const remembered = await owners.read(plan, { negativeCache });
          const byName = (results: typeof remembered) =>
            new Map(results.map(({ owner: name, ...rest }) => [name, rest]));
          t.deepEqual(byName(remembered), byName(await owners.read(plan)));
        }
      }
    }),
    { seed: 13, numRuns: 300 },
  );
});

test('a plan that comes again with its version costs no look at each owner, until one of them commits', async (t) => {
  const owners = new Owners(['a', 'b']);
  for (const name of owners.names) owners.admit(name, true);
  const newMarker = (name: string) =>
    new UnchangedSince({ address: { kind: 'vault', id: name }, shard: 1, epoch: 1 });
  const markers = new Map(owners.names.map((name) => [name, newMarker(name)]));
  let lookUps = 0;
  const of = ({ id }: { readonly id: string }) => {
    lookUps += 1;
    return markers.get(id);
  };
  const unchangedMarkers = { of, holds: ({ isCleared }: UnchangedSince) => !isCleared };
  const negativeCache = new NegativeCache({ unchangedMarkers, kindOf: () => 'vault' });
  const lookUpsOf = async (version: number | undefined) => {
    lookUps = 0;
    const positions = owners.names.map((name) => ({ owner: name, after: 0 }));
    const requests: StoreRead[] = [];
    const plan = crossOwner(note, { membership, owners: positions, limit: 9, version });
    t.is((await owners.read(plan, { negativeCache, requests })).length, 2);
    return { lookUps, requests: requests.length };
  };
  t.is((await lookUpsOf(1)).requests, 1);
  t.true((await lookUpsOf(1)).lookUps > 0);
  t.deepEqual(await lookUpsOf(1), { lookUps: 0, requests: 0 });
  t.true((await lookUpsOf(undefined)).lookUps > 0, 'another plan may ask for something else');
  t.true((await lookUpsOf(2)).lookUps > 0, 'as may another version');
  t.deepEqual(await lookUpsOf(2), { lookUps: 0, requests: 0 });
  const before = markers.get('b');
  if (before === undefined) return t.fail();
  before.isCleared = true;
  markers.set('b', newMarker('b'));
  t.is((await lookUpsOf(2)).requests, 1);
});
