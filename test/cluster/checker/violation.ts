/** The errors that a history must not show, each with the promise that it breaks. */
export const violationKinds = {
  lost: 'an acknowledged write, or one that a device was given, is not among what led to the final state',
  forked: 'two writes took effect on the same version: the later undid the other',
  'applied-twice': 'one write took effect at two versions, or two at one',
  'command-changed': 'a named command that was sent again is answered by another effect than it had',
  duplicate: 'an item came twice in one full sync',
  'out-of-order': 'a write got a version below that of one acknowledged before it was sent',
  torn: 'a state is not, to the letter, what one write was',
  unknown: 'a state, or a version, that nobody wrote',
  leak: 'a state of one user, or of a vault, was given to somebody else',
  forbidden: 'a write took effect of somebody who may not write there',
  resurrected: 'a deleted item lives again',
  'went-back': 'a device was given an older version than it had',
  skipped: 'a complete sync lacks a write that was acknowledged before it was sent',
  diverged: 'what the syncs of a device add up to is not what a new device is given',
  unaccounted: 'an item that was sent is not answered exactly once',
  'false-conflict': 'a conflict without an edit of anybody else',
  'session-back': 'a session that had ended was accepted',
  'session-lost': 'a session that nobody ended was refused',
  'false-mismatch': 'an integrity check named what the device had, or an older version',
  'vault-lost': 'a vault that nobody has ended is not there for a member, or for who survives its owner',
  'vault-kept': 'a vault is there for who is no member of it',
  'vault-differs': 'two members are shown different members, owners or items of one vault',
  'file-lost': 'a file that was closed and that nobody has deleted is not there, or not in one place',
  'file-doubled': 'a file is in two places',
  'file-back': 'a file that was deleted is there',
  'file-torn': 'bytes of a file are not those that were closed',
  'file-leak': 'bytes of a file were given to who may not read it',
  'over-quota': 'files take more than their account may have',
  miscounted: 'the bytes that the server counts are not those of the files that are there',
  overheard: 'somebody was told what was saved in a vault that he is no member of',
  'held-up': 'a sync failed or took long although only the node of other users was cut off from the database',
  failed: 'an answer that no client should be given',
} as const;

export type ViolationKind = keyof typeof violationKinds;

export interface Violation {
  readonly kind: ViolationKind;
  readonly user: string;
  /** The details, with the nonces, versions and calls to look for in the history. */
  readonly detail: string;
}

export type Report = (kind: ViolationKind, user: string, detail: string) => void;
