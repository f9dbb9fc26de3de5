/**
 * What distinguishes the repeat of a save whose reply was lost from another save: SHA-256 over the session and
 * all fields as sent, including the timestamp the save is based on.
 */
import { hash } from 'node:crypto';
import { type ClientItem, fingerprintedFields } from './item-fields.ts';

export function fingerprintOf(sessionUuid: string, sent: ClientItem): Buffer {
  const fields = [sessionUuid, ...fingerprintedFields.map((name) => sent[name])];
  return hash('sha256', JSON.stringify(fields), 'buffer');
}
