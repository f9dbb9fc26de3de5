/**
 * How objects are kept: as they are, or encrypted with age (https://age-encryption.org) to the recipients of the operator.
 *
 * Backing up needs only the recipients' keys, so the server that writes a backup cannot read it. The library age hides the content
 * of a backup and notices every change of it. It does not prove who wrote it.
 */
import { createHash } from 'node:crypto';
import { BackupError } from './error.ts';

/** The id of objects that are kept as they are. */
const plain = 'plain';

export interface Sealer {
  /** Depends on the recipients, so that blobs which are encrypted to others are written again. */
  readonly id: string;
  seal(bytes: Uint8Array): Promise<Uint8Array>;
}

export interface Opener {
  /** @throws BackupError */
  open(id: string, bytes: Uint8Array): Promise<Buffer>;
}

const idBytes = 8;

/** @throws BackupError */
export async function sealerFor(recipients: readonly string[]): Promise<Sealer> {
  if (recipients.length === 0) return { id: plain, seal: async (bytes) => bytes };
  // Loaded only when it is needed, because most servers back up without encryption.
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  for (const recipient of recipients) {
    try {
      encrypter.addRecipient(recipient);
    } catch (error) {
      throw BackupError.refused(`${recipient} is not a recipient of age (age1…).`, error);
    }
  }
  const id = createHash('sha256')
    .update(recipients.toSorted().join('\n'))
    .digest('hex')
    .slice(0, 2 * idBytes);
  return { id, seal: (bytes) => encrypter.encrypt(bytes) };
}

/** `identities` is the text of an identity file as `age-keygen` writes it; comments are passed over. @throws BackupError */
export async function openerWith(identities: string | undefined): Promise<Opener> {
  const keys = (identities ?? '').split('\n').flatMap((line) => {
    const text = line.trim();
    return text === '' || text.startsWith('#') ? [] : [text];
  });
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  for (const key of keys) {
    try {
      decrypter.addIdentity(key);
    } catch (error) {
      throw BackupError.refused('The file of --identity has a line that is no identity of age.', error);
    }
  }
  return { open: (id, bytes) => opened({ id, bytes, decrypter: keys.length > 0 ? decrypter : undefined }) };
}

async function opened({
  id,
  bytes,
  decrypter,
}: {
  readonly id: string;
  readonly bytes: Uint8Array;
  readonly decrypter: { decrypt(bytes: Uint8Array): Promise<Uint8Array> } | undefined;
}): Promise<Buffer> {
  if (id === plain) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (decrypter === undefined) {
    throw BackupError.refused('The backup is encrypted: name the file of its age identity with --identity.');
  }
  try {
    return Buffer.from(await decrypter.decrypt(bytes));
  } catch (error) {
    throw BackupError.refused(
      'The identity of --identity does not open this backup: it is of another recipient, or the object was changed.',
      error,
    );
  }
}
