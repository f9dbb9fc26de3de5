import { table } from '../../../runtime/table.ts';

/** Full pages of audit trails: the slot of the oldest is the next to be written. */
export const auditPageTable = table({
  name: 'audit_page',
  columns: {
    user_uuid: 'uuid',
    slot: 'int8',
    /** The events as JSON, oldest first. */
    events: 'text',
  },
  key: ['user_uuid', 'slot'],
});
