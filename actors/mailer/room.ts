/** Whether the disk of the queue has room for more mail, if this process can know. Turns read it, so it answers at once. */
import { dependency } from '../../runtime/dependency.ts';

export interface MailRoom {
  readonly isLow: boolean;
}
export const MailRoom = dependency<MailRoom>('the room for mail');

/** For a database on another machine, which reports itself when it is full. */
export const unknownRoom: MailRoom = { isLow: false };
