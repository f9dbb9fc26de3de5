/**
 * What happens to an account as a whole, and reaches its features as hooks. The account raises them and knows no feature; each
 * feature says in its part what it does then.
 *
 * The parts of one hook run in the order of the list in `user.ts`.
 */
import type { PlanResults, Plans, Turn, View } from '../../runtime/command.ts';
import { type HooksOf, partsWith } from '../../runtime/part.ts';
import type { MailOutcome } from '../mailer/contract.ts';

export interface UserHooks {
  /** In the commit that deletes the account, which still has its profile. What is large stays for the purge. */
  readonly accountDeleted: (turn: Turn) => void;
  /**
   * Removes what a deleted account leaves behind, in commits of its own: the next part begins when this one has nothing left.
   */
  readonly purgeFirst: Purge;
  /** Likewise, after all of `purgeFirst` are through: these share each commit. */
  readonly purge: Purge;
  /** In the commit that opens a session by a sign-in. */
  readonly signedIn: (turn: Turn) => void;
  readonly banned: (turn: Turn) => void;
  readonly unbanned: (turn: Turn) => void;
  /** The profile has the new credentials, and the session of the change is not open yet. */
  readonly credentialsChanged: (turn: Turn, changed: ChangedCredentials) => void;
  /** What became of a mail whose listener has this name (`mail-listener.ts`). */
  readonly mailOutcome: MailListener;
}

interface ChangedCredentials {
  readonly email: string;
  /** The address is another one. */
  readonly hasMoved: boolean;
}

interface MailListener {
  readonly listener: string;
  readonly turn: (turn: Turn, uuid: string, round: number, outcome: MailOutcome) => void;
}

/** How far the purge has come in the longest lists: the items, and the revisions. */
export interface PurgeProgress {
  readonly after: number;
  readonly afterOffset: number;
}

/** `later`: what is left cannot be removed yet, as it waits for something outside the actor. */
type PurgeLeft = 'more' | 'later' | 'nothing';

export interface Purge<P extends Plans = Plans> {
  readonly reads?: (view: View, progress: PurgeProgress) => P;
  /** Removes one bounded batch. */
  readonly turn: (
    turn: Turn,
    reads: PlanResults<P>,
  ) => { readonly left: PurgeLeft; readonly progress?: Partial<PurgeProgress> };
}

export function purging<P extends Plans = Record<never, never>>(purge: Purge<P>): Purge {
  return purge as unknown as Purge;
}

export type RaisedHooks = HooksOf<UserHooks>;

export const userPart = partsWith<UserHooks>();
