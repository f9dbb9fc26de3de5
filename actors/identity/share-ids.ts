/**
 * Ids of public shares (docs/protocol/public-shares.md, "Ids"): version 4 uuids to everybody but this server, which finds
 * a MAC in their last six bytes. A guess wakes no actor and asks no database.
 *
 * An id follows from the call that makes the share, so that a repeat of the call makes the same one. It is as secret
 * as a random one: both halves depend on a key.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { dependency } from '../../runtime/dependency.ts';
import type { Keyring } from '../../runtime/keyring.ts';
import { dashed } from './uuid-text.ts';

export interface ShareIds {
  idOf(call: { readonly userUuid: string; readonly callId: string }): string;
  /** The id in lower case. Undefined if this server has not made it. */
  read(text: string): string | undefined;
}
export const ShareIds = dependency<ShareIds>('the ids of public shares');

const form = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const nameBytes = 10;
const macBytes = 6;

export function createShareIds(keyring: Keyring): ShareIds {
  const names = keyring.derive('share-id-name');
  const macs = keyring.derive('share-id-mac');
  const macOf = (name: Buffer) => createHmac('sha256', macs).update(name).digest().subarray(0, macBytes);
  return {
    idOf({ userUuid, callId }) {
      const name = createHmac('sha256', names).update(`${userUuid}\u0000${callId}`).digest();
      const named = asVersion4(name.subarray(0, nameBytes));
      return dashed(Buffer.concat([named, macOf(named)]).toString('hex'));
    },
    read(text) {
      if (text.length !== 36) return undefined;
      const id = text.toLowerCase();
      if (!form.test(id)) return undefined;
      const bytes = Buffer.from(id.replaceAll('-', ''), 'hex');
      const isOurs = timingSafeEqual(bytes.subarray(nameBytes), macOf(bytes.subarray(0, nameBytes)));
      return isOurs ? id : undefined;
    },
  };
}

function asVersion4(bytes: Buffer): Buffer {
  const made = Buffer.from(bytes);
  made.writeUInt8((made.readUInt8(6) & 0x0f) | 0x40, 6);
  made.writeUInt8((made.readUInt8(8) & 0x3f) | 0x80, 8);
  return made;
}
