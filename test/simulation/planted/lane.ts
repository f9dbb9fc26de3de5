/** Planted bugs of the sync lane. */
import type { PlantedBug } from '../plant.ts';

export const bugs: readonly PlantedBug[] = [
  {
    name: 'committed-before-durable',
    why: 'A command that is held is told as committed, before anything of it is durable.',
    flavour: 'lane',
    from: 415,
    edits: [
      {
        file: 'actors/user/sync-lane/carry-out.ts',
        find: "      return { status: isHeld ? 'accepted' : 'unknown' };",
        replace: "      return { status: isHeld ? 'committed' : 'unknown' };",
      },
    ],
  },
  {
    name: 'forgotten-turn-remembered',
    why: 'The answer of a turn that has to run again is remembered: a repeat is told of saves that were never durable.',
    flavour: 'lane',
    edits: [
      {
        file: 'actors/user/sync-lane/carry-out.ts',
        find: '      const isIdle = turn.get(head) === before;\n',
        replace:
          '      const isIdle = turn.get(head) === before;\n      begun.memory.remember(begun.key, entryOf(identity.digest, request, modern));\n',
      },
    ],
  },
  {
    name: 'journal-outside-the-commit',
    why: 'A command is journaled in a commit after that of its save: a crash in between leaves it unknown.',
    flavour: 'lane',
    from: 34,
    edits: [
      {
        file: 'actors/user/sync-lane/carry-out.ts',
        find: '  const begun = sync.isPlain ? ',
        replace: '  const begun = sync.isPlain && false ? ',
      },
    ],
  },
  {
    name: 'loss-not-noticed',
    why: 'A gateway that has lost the last events of a host never finds out, and its sockets miss what was saved.',
    flavour: 'lane',
    edits: [
      {
        file: 'runtime/events/repairs.ts',
        find: '    if (first === last) return;',
        replace: '    if (first === last || last >= 0) return;',
      },
      {
        file: 'runtime/events/repairs.ts',
        find: '    if (last >= sequence) return;',
        replace: '    if (last >= sequence || last >= 0) return;',
      },
    ],
  },
  {
    name: 'notice-forgotten',
    why: 'What a named command saves is never told to the other devices.',
    flavour: 'lane',
    edits: [
      {
        file: 'actors/user/items/sync.ts',
        find: '  if (after.head !== before) notifyOtherDevices',
        replace: "  if (after.head !== before && !('identity' in batch.request)) notifyOtherDevices",
      },
    ],
  },
  {
    name: 'stale-session-carried-out',
    why: 'A command over a socket whose tokens were replaced is carried out.',
    flavour: 'lane',
    edits: [
      {
        file: 'actors/user/sessions/session.ts',
        find: "  if (status === 'replaced' || !accessIsFresh",
        replace: "  if ((status === 'replaced' && credentials.style !== 'lane') || !accessIsFresh",
      },
    ],
  },
  {
    name: 'ticket-spent-twice',
    why: 'A ticket that one socket has spent lets in another.',
    flavour: 'lane',
    edits: [
      {
        file: 'actors/user/sync-lane/memory.ts',
        find: '    if (claim !== undefined) return claim.by === by;',
        replace: '    if (claim !== undefined) return true;',
      },
    ],
  },
  {
    name: 'unknown-too-early',
    why: 'A command that was accepted and may still be carried out is told as unknown.',
    flavour: 'lane',
    from: 182,
    edits: [
      {
        file: 'actors/user/sync-lane/carry-out.ts',
        find: "      return { status: isHeld ? 'accepted' : 'unknown' };",
        replace: "      return { status: isHeld && false ? 'accepted' : 'unknown' };",
      },
    ],
  },
];
