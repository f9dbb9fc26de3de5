/**
 * What happens to an account as a whole, as hooks. The account raises a hook and knows no feature; each feature says in its
 * part what it does then. The parts of one hook run in the order of the list in `user.ts`.
 */
import type { PlanResults, Plans, Turn, View } from '../../runtime/command.ts';
import { type HooksOf, partsWith } from '../../runtime/part.ts';
import type { MailOutcome } from '../mailer/contract.ts';

export interface UserHooks {
  /** In the commit that deletes the account. The profile is still there. What takes several commits is left to the purge. */
  readonly accountDeleted: (turn: Turn) => void;
  /** Removes what a deleted account leaves behind, in commits of its own. The next part begins once this one has nothing left. */
  readonly purgeFirst: Purge;
  /** Like `purgeFirst`, and called once every `purgeFirst` has finished. All parts share each commit. */
  readonly purge: Purge;
  /** In the commit of a sign-in, before its session is opened. */
  readonly signedIn: (turn: Turn) => void;
  readonly banned: (turn: Turn) => void;
  readonly unbanned: (turn: Turn) => void;
  /** Called when the profile has the new credentials, before their session is opened. */
  readonly credentialsChanged: (turn: Turn, changed: ChangedCredentials) => void;
  /** The mail queue reports on a mail that was sent for this listener (`listenerFor` in `mails.ts`). */
  readonly mailOutcome: MailListener;
}

interface ChangedCredentials {
  readonly email: string;
  /** The address has changed. */
  readonly hasMoved: boolean;
}

interface MailListener {
  readonly listener: string;
  readonly turn: (turn: Turn, uuid: string, round: number, outcome: MailOutcome) => void;
}

/** How far the purge has come in the two longest lists, the items and the revisions. */
export interface PurgeProgress {
  readonly after: number;
  readonly afterOffset: number;
}

/** `later`: the rest waits for something outside the actor. */
type PurgeLeft = 'more' | 'later' | 'nothing';

export interface Purge<P extends Plans = Plans> {
  readonly reads?: (view: View, progress: PurgeProgress) => P;
  /** Removes one batch of bounded size. */
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
