/**
 * What distinguishes the repeat of a save whose reply was lost from another save: SHA-256 over the session and
 * all fields as sent, including the timestamp the save is based on.
 *
 * A deletion is the same deletion whichever vault it names. An item that names an ended vault is saved in its owning collection
 * as if it named none (`actors/user/items/save-across-collections.ts`). Its repeat names the vault again.
 */
import { hash } from 'node:crypto';
import { type ClientItem, fingerprintedFields } from './item-fields.ts';

export function fingerprintOf(sessionUuid: string, sent: ClientItem): Buffer {
  const distinct = sent.deleted === true ? { ...sent, shared_vault_uuid: null } : sent;
  const fields = [sessionUuid, ...fingerprintedFields.map((name) => distinct[name])];
  return hash('sha256', JSON.stringify(fields), 'buffer');
}
