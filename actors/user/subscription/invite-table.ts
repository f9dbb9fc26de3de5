/** Whose an invite is: an invitee knows only its uuid. Everything else of it is in `invites.ts`. */
import { table } from '../../../runtime/table.ts';

export const inviteTable = table({
  name: 'subscription_invite',
  columns: { user_uuid: 'uuid', uuid: 'uuid' },
  key: ['user_uuid', 'uuid'],
  unique: [['uuid']],
});
