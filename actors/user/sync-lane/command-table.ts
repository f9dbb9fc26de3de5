/** Commands that have changed something, one row each. */
import { table } from '../../../runtime/table.ts';

export const syncCommandTable = table({
  name: 'sync_command',
  columns: {
    user_uuid: 'uuid',
    session_uuid: 'uuid',
    command_id: 'text',
    /** Counts the commands of the user. */
    number: 'int8',
    digest: 'text',
    /** Milliseconds. */
    kept_until: 'int8',
    /** An entry without its digest, as JSON. */
    outcome: 'text',
  },
  key: ['user_uuid', 'session_uuid', 'command_id'],
  order: 'number',
});
