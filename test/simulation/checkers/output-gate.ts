/**
 * Nothing leaves a host before its commit is durable. The check reads the database at the moment when the output
 * leaves.
 */
import type { Address } from '../../../runtime/address.ts';
import type { Commit, TellRow } from '../../../runtime/store/store.ts';
import type { AskCall } from '../../../runtime/transport/transport.ts';
import type { Reading } from '../counter.ts';
import type { Checker, Report } from './checker.ts';
import type { Durable } from './durable.ts';
import type { SyncAnswer } from './replica.ts';
import { secretHash } from './secret-hash.ts';
import { positionOf } from './sync-token.ts';

interface KeptPair {
  readonly accessHash: string;
}

export class OutputGateChecker implements Checker {
  readonly name = 'output-gate';
  readonly #report: Report;
  readonly #durable: Durable;
  readonly #itemVersions = new Set<string>();
  readonly #tells = new Set<string>();
  readonly #pairs = new Set<string>();
  /** The furthest durable position of each user. A late reply may still name it when the account is purged. */
  readonly #heads = new Map<string, number>();

  constructor(report: Report, durable: Durable) {
    this.#report = report;
    this.#durable = durable;
  }

  committed({ address, writes }: Commit): void {
    for (const write of writes) {
      if (!('put' in write)) continue;
      const { table, put } = write;
      if (table.name === 'item') this.#itemVersions.add(`${put['uuid']}@${put['updated_at_timestamp']}`);
      if (table.name === 'outbox') this.#tells.add(String(put['tell_id']));
      if (table.name !== 'slice') continue;
      if (put['slice'] === 'items') this.#keepHead(address);
      if (String(put['slice']).startsWith('session:')) this.#keepPairs(address, String(put['slice']));
    }
  }

  #keepHead(address: Address): void {
    const position = this.#durable.slice<{ position: number }>(address, 'items')?.position ?? 0;
    this.#heads.set(address.id, Math.max(position, this.#heads.get(address.id) ?? 0));
  }

  /** If one commit contains two refreshes, only the second leaves the current pair. */
  #keepPairs(address: Address, slice: string): void {
    const session = this.#durable.slice<{ current: KeptPair; replaced: readonly KeptPair[] }>(address, slice);
    if (session === undefined) return;
    for (const { accessHash } of [session.current, ...session.replaced]) this.#pairs.add(accessHash);
  }

  woke(tell: TellRow): void {
    if (!this.#tells.has(tell.tell_id)) this.#report(`a wake-up for ${tell.name} left before its commit`);
  }

  replied(call: AskCall, reply: unknown): void {
    if (call.address.kind === 'counter') this.#counterReplied(call, reply);
    else this.#userReplied(call, reply as Record<string, unknown>);
  }

  #counterReplied({ address, command, request }: AskCall, reply: unknown): void {
    const { op } = request as { op?: string };
    const journal = this.#durable.slice<readonly string[]>(address, 'journal') ?? [];
    switch (command) {
      case 'append':
      case 'transfer':
      case 'arm':
      case 'disarm':
      case 'relay':
      case 'yieldName':
        if (!journal.includes(op ?? '')) this.#early(command, `${op} at ${address.id}`);
        return;
      case 'bump': {
        const row = this.#durable.row('tally', [address.id, (request as { name: string }).name]);
        if (
          !String(row?.['ops'])
            .split(',')
            .includes(op ?? '')
        )
          this.#early(command, `${op} at ${address.id}`);
        return;
      }
      case 'take': {
        const { holder, op: held } = reply as { holder: string; op: string };
        if (holder === address.id && held === op && !journal.includes(held)) this.#early(command, held);
        return;
      }
      case 'read':
      case 'peek':
        this.#readingLeft(address.id, journal, reply as Reading);
    }
  }

  #readingLeft(id: string, journal: readonly string[], reading: Reading): void {
    const last = reading.journal.at(-1);
    const at = reading.journal.length - 1;
    if (last !== undefined && journal[at] !== last) this.#early('a reading', `${last} at ${id}`);
    for (const { name, ops } of reading.tallies) {
      const durable = String(this.#durable.row('tally', [id, name])?.['ops']);
      if (!durable.startsWith(ops)) this.#early('a reading', `${ops} of ${name} at ${id}`);
    }
  }

  #userReplied({ address, command }: AskCall, answer: Record<string, unknown>): void {
    const issued = issuedIn(answer['ok']);
    if (issued !== undefined && !this.#pairs.has(secretHash(issued))) this.#early(command, 'a token pair');
    const reply = answer['ok'] as Partial<SyncAnswer> | undefined;
    if (reply?.sync_token === undefined) return;
    const head = this.#heads.get(address.id) ?? 0;
    if (positionOf(reply.sync_token).position > head) this.#early(command, 'a token beyond the durable head');
    const received = [...(reply.retrieved_items ?? []), ...(reply.saved_items ?? [])];
    const theirs = (reply.conflicts ?? []).flatMap(({ server_item: item }) => (item ? [item] : []));
    for (const item of [...received, ...theirs]) {
      const version = `${item.uuid}@${item.updated_at_timestamp}`;
      if (!this.#itemVersions.has(version)) this.#early(command, `item ${version}`);
    }
  }

  #early(command: string, what: string): void {
    this.#report(`${command} left before its commit: ${what}`);
  }
}

function issuedIn(value: unknown): string | undefined {
  return (value as { secrets?: { accessSecret?: string } } | undefined)?.secrets?.accessSecret;
}
