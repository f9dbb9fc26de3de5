/** Whether the disk that the queue lies on has room for more mail, where this process can know. Read in turns, so at once. */
import { dependency } from '../../runtime/dependency.ts';

export interface MailRoom {
  readonly isLow: boolean;
}
export const MailRoom = dependency<MailRoom>('the room for mail');

/** For a database elsewhere, which says itself when it is full. */
export const unknownRoom: MailRoom = { isLow: false };
