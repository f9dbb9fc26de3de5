/**
 * The steady mix: nine of ten syncs find nothing new, and the rest are edits, new notes and large notes. A VU that
 * saves is a device of one of the writing users. It edits the note that it made, so that no two devices conflict.
 */
import type { SeededUser } from '../seeded.ts';
import { call } from './call.ts';
import { ciphertext, largeCiphertext } from './ciphertext.ts';
import { idle, note, type SavedItem, saved, syncCall } from './items.ts';
import type { Operation } from './operations.ts';
import { idleUsers, nextOf, ownOf, writingUsers } from './users.ts';

export const mixedOperations = ['idle-sync', 'edit', 'new-note', 'large-note'] as const;

const shares = { edit: 0.06, newNote: 0.03, largeNote: 0.01 };

export function mix(): void {
  const chance = Math.random();
  if (chance < shares.edit) edit();
  else if (chance < shares.edit + shares.newNote) save('new-note', note(ciphertext()));
  else if (chance < shares.edit + shares.newNote + shares.largeNote)
    save('large-note', note(largeCiphertext()));
  else idleSync();
}

export function idleSync(): void {
  const { accessTokens, syncToken } = nextOf(idleUsers);
  call(syncCall({ operation: 'idle-sync', token: tokenOf(accessTokens), syncToken }), idle);
}

/** The device of this VU. */
const device: { syncToken?: string; note?: SavedItem } = {};

function edit(): void {
  const base = device.note;
  const made = save(base === undefined ? 'new-note' : 'edit', note(ciphertext(), base));
  if (made !== undefined) device.note = made;
}

function save(operation: Operation, item: object): SavedItem | undefined {
  const user: SeededUser = ownOf(writingUsers);
  const token = tokenOf(user.accessTokens);
  const syncToken = device.syncToken ?? user.syncToken;
  const reply = call(syncCall({ operation, token, items: [item], syncToken }), saved);
  if (reply === undefined) {
    // Nobody knows whether it was saved, so the next edit uses another note.
    delete device.note;
    return undefined;
  }
  device.syncToken = reply.sync_token;
  return reply.saved_items[0];
}

export const tokenOf = ([token = '']: readonly string[]): string => token;
