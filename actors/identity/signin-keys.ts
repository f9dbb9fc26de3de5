/**
 * Values that are derived from an address (a normalised e-mail and its workspace) under keys of this server. So no address appears
 * in plain text in an actor's id or a log. And an unknown address has key params that look like real ones and never change
 * (docs/protocol/authentication.md, "Login params").
 */
import { createHmac } from 'node:crypto';
import { dependency } from '../../runtime/dependency.ts';
import type { Keyring } from '../../runtime/keyring.ts';
import { equalInConstantTime } from './session-tokens.ts';
import { derivedUuid } from './uuid-text.ts';

export interface SignInAddress {
  /** Trimmed and in lower case. */
  readonly email: string;
  readonly workspace: string;
}

export interface SigninKeys {
  /** The id of the `signin` actor of an address: 64 hex characters. */
  actorId(address: SignInAddress): string;
  /** The id of the `signin` actor that counts the wrong passwords of an account's own signed-in callers. */
  guardId(userUuid: string): string;
  /** The id of the `signin` actor that counts the look-ups of what a user has left for their recovery. */
  recoveryId(userUuid: string): string;
  /** The id of the `signin` actor that counts wrong secrets of a calendar token. */
  calendarTokenId(tokenUuid: string): string;
  /**
   * The key under which the `signin` actor of this id stores a network or a device; it reveals nothing about
   * its owner.
   */
  sourceKey(actorId: string, source: string): string;
  /** The secret of the approval with this uuid, which only the waiting device knows. */
  approvalSecret(actorId: string, uuid: string): string;
  /**
   * The id of an approval for the device that waits for it. It names its `signin` actor and carries a MAC, so a guess wakes no
   * actor.
   */
  approvalId(actorId: string, secret: string): string;
  /** Undefined: malformed or not ours. */
  readApprovalId(text: string): { readonly actorId: string; readonly secret: string } | undefined;
  /** The code that is mailed for what the `signin` actor of this id keeps of it: six digits. */
  emailedCode(actorId: string, nonce: string): string;
  /** Stands for a mailbox and reveals nothing of it. All spellings of an address, and its sub-addresses, give the same key. */
  mailboxKey(address: string): string;
  /** The token in a link that stops mail to a mailbox: its key and a MAC. So only a recipient of the mail can stop it. */
  unsubscribeToken(mailboxKey: string): string;
  /** Undefined: malformed or not ours. */
  readUnsubscribeToken(text: string): string | undefined;
  /** For an unknown address, always the same: the uuid of a user who does not exist. */
  pseudoUser(address: SignInAddress): string;
  /** The second factor that about half of the unknown addresses are asked for. No code passes it. */
  pseudoFactor(address: SignInAddress): 'totp' | 'emailed-code' | 'security-key' | undefined;
  /** The security keys that an unknown address seems to have. */
  pseudoCredentials(address: SignInAddress): readonly PseudoCredential[];
  /** The nonce in the key params of an unknown address: 64 hex characters, as from a client. */
  pseudoNonce(address: SignInAddress): string;
}
export const SigninKeys = dependency<SigninKeys>('the keys of sign-in addresses');

const approvalIdForm = /^([0-9a-f]{64})-([0-9a-f]{32})-([\w-]{43})$/;

export function createSigninKeys(keyring: Keyring): SigninKeys {
  const actorKey = keyring.derive('signin-actor');
  const guardKey = keyring.derive('signed-in-guard');
  const recoveryKey = keyring.derive('recovery-guard');
  const calendarKey = keyring.derive('calendar-token-guard');
  const sourceKey = keyring.derive('signin-place');
  const approvalKey = keyring.derive('approval-id');
  const secretKey = keyring.derive('approval-secret');
  const codeKey = keyring.derive('emailed-code');
  const mailboxKey = keyring.derive('mailbox');
  const unsubscribeKey = keyring.derive('unsubscribe');
  const pseudoKey = keyring.derive('pseudo-account');
  const nonceKey = keyring.derive('pseudo-key-params');
  const pseudo = (what: string, { email, workspace }: SignInAddress) =>
    createHmac('sha256', pseudoKey).update(`${what}\u0000${workspace}\u0000${email}`).digest();
  const unsubscribeMac = (mailbox: string) =>
    createHmac('sha256', unsubscribeKey).update(mailbox).digest('base64url').slice(0, 22);
  const approvalMac = (actorId: string, secret: string) =>
    createHmac('sha256', approvalKey).update(`${actorId}.${secret}`).digest('hex').slice(0, 32);
  return {
    actorId: (address) => addressHmac(actorKey, address),
    guardId: (userUuid) => createHmac('sha256', guardKey).update(userUuid).digest('hex'),
    recoveryId: (userUuid) => createHmac('sha256', recoveryKey).update(userUuid).digest('hex'),
    calendarTokenId: (tokenUuid) => createHmac('sha256', calendarKey).update(tokenUuid).digest('hex'),
    sourceKey: (actorId, source) =>
      createHmac('sha256', sourceKey).update(`${actorId}\u0000${source}`).digest('base64url').slice(0, 22),
    approvalSecret: (actorId, uuid) =>
      createHmac('sha256', secretKey).update(`${actorId}.${uuid}`).digest('base64url'),
    approvalId: (actorId, secret) => `${actorId}-${approvalMac(actorId, secret)}-${secret}`,
    readApprovalId(text) {
      const [, actorId = '', mac = '', secret = ''] = approvalIdForm.exec(text) ?? [];
      return equalInConstantTime(mac, approvalMac(actorId, secret)) ? { actorId, secret } : undefined;
    },
    emailedCode(actorId, nonce) {
      const digest = createHmac('sha256', codeKey).update(`${actorId}.${nonce}`).digest();
      // Six bytes, so that no code is more likely than another by more than one in a hundred million.
      return String(digest.readUIntBE(0, 6) % 1_000_000).padStart(6, '0');
    },
    mailboxKey: (address) =>
      createHmac('sha256', mailboxKey)
        .update(address.toLowerCase().replace(/\+[^@]*(?=@[^@]*$)/, ''))
        .digest('base64url')
        .slice(0, 22),
    unsubscribeToken: (mailbox) => `${mailbox}.${unsubscribeMac(mailbox)}`,
    readUnsubscribeToken(text) {
      const [, mailbox = '', mac = ''] = /^([\w-]{22})\.([\w-]{22})$/.exec(text) ?? [];
      return equalInConstantTime(mac, unsubscribeMac(mailbox)) ? mailbox : undefined;
    },
    pseudoUser: (address) => derivedUuid(pseudo('user', address).toString('hex')),
    pseudoFactor(address) {
      const [draw = 0] = pseudo('factor', address);
      if (draw >= 128) return undefined;
      if (draw < 16) return 'security-key';
      return draw < 32 ? 'emailed-code' : 'totp';
    },
    pseudoCredentials: (address) => pseudoCredentials((what) => pseudo(what, address)),
    pseudoNonce: (address) => addressHmac(nonceKey, address),
  };
}

function addressHmac(key: Buffer, { email, workspace }: SignInAddress): string {
  return createHmac('sha256', key).update(`${workspace}\u0000${email}`).digest('hex');
}

/** A security key that does not exist, for an address without an account. Such keys differ from each other as much as real ones. */

export interface PseudoCredential {
  /** Base64url, as all clients have it. */
  readonly id: string;
  readonly transports: readonly string[];
}

/** Common kinds of credentials, and how many of sixteen have each. */
const models = [
  { share: 5, idBytes: 20, transports: ['internal', 'hybrid'] },
  { share: 4, idBytes: 16, transports: ['internal', 'hybrid'] },
  { share: 3, idBytes: 32, transports: ['internal'] },
  { share: 2, idBytes: 48, transports: ['nfc', 'usb'] },
  { share: 2, idBytes: 64, transports: ['usb'] },
];

/** One credential, or for some addresses two. `draw` gives 32 bytes for a purpose, always the same. */
function pseudoCredentials(draw: (what: string) => Buffer): readonly PseudoCredential[] {
  const [number = 0] = draw('number of credentials');
  return number < 192 ? [credential(draw, 'first')] : [credential(draw, 'first'), credential(draw, 'second')];
}

function credential(draw: (what: string) => Buffer, which: string): PseudoCredential {
  const [at = 0] = draw(`model of the ${which} credential`);
  const { idBytes, transports } = modelAt(at % 16);
  const id = Buffer.concat([draw(`${which} credential`), draw(`rest of the ${which} credential`)]);
  return { id: id.subarray(0, idBytes).toString('base64url'), transports };
}

function modelAt(sixteenth: number): (typeof models)[number] {
  let before = 0;
  for (const model of models) {
    before += model.share;
    if (sixteenth < before) return model;
  }
  throw new RangeError(`the shares of all models are ${before} of sixteen`);
}
