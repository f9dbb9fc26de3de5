/**
 * The `user` kind: one actor per account, with its credentials, its sessions and its own items. Here stands what belongs to no
 * feature: its name and its events. What it can be asked and told stands in the contracts of its features, each in its folder.
 */
import { contract } from '../../runtime/contract.ts';
import { userEventSchema } from './events.ts';

export { type FrameEvent, type FrameType, frameTypes, itemsChanged, userEventSchema } from './events.ts';

export const User = contract({ name: 'user', event: userEventSchema });
