/** The sync lane of an account (docs/protocol/sockets.md, "The sync lane"). */
import { userPart } from '../hooks.ts';
import { getSyncCommand } from '../items/sync.ts';
import { SyncLane } from './contract.ts';
import { journalPurge, journalSlice, syncCommandTable, trimSyncJournalTimer } from './journal.ts';
import { syncLaneCommands } from './tickets-and-holds.ts';

export const syncLane = userPart(SyncLane, {
  name: 'sync-lane',
  slices: [journalSlice],
  tables: [syncCommandTable],
  commands: { ...syncLaneCommands, getSyncCommand },
  timers: { trimSyncJournal: trimSyncJournalTimer },
  on: { purgeFirst: journalPurge },
});
