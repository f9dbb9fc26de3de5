/**
 * The `share` kind. The owner's list, and the protocol between both actors, are in `actors/user/public-shares/part.ts`; the
 * rules for opening are in `opening.ts`.
 *
 * Invariants:
 * - A turn opens the share, so exactly one of all openers on all nodes is the first.
 * - The share is not opened for a reader without room for its ciphertext. The reader hears its size, and asks again.
 * - The turn that opens reads the ciphertext from its row. No reply is recorded. A one-time share knows the call that has opened
 *   it, and answers a repeat of that call for as long as one may come.
 * - The commit that ends the share removes the ciphertext and leaves a tombstone, which no repeat of its creation revives.
 */
import { hash } from 'node:crypto';
import { z } from 'zod';
import {
  command,
  job,
  keys,
  type Turn,
  tell,
  timer,
  type View,
  type Workflow,
  workflow,
} from '../../runtime/command.ts';
import { unlessAbsent } from '../../runtime/handles.ts';
import { kindOf } from '../../runtime/kind.ts';
import { slice } from '../../runtime/slice.ts';
import { table } from '../../runtime/table.ts';
import { PublicShares } from '../user/public-shares/contract.ts';
import { Share, shareNotFound, termsFields } from './contract.ts';
import { endedAtMs, isOneTime, keptUntilMs, type Opening, openingStatus } from './opening.ts';

/** The ciphertext of public shares: one row for as long as the share can be opened. */
export const shareContentTable = table({
  name: 'share_content',
  columns: { share_uuid: 'uuid', content: 'text?' },
  key: ['share_uuid'],
  large: 'content',
});

/** Much longer than its owner may take to list it. */
const confirmAfterMs = 600_000;
const askOwnerMs = 60_000;

const stateSchema = z.object({
  ...termsFields,
  ownerUuid: z.string(),
  createdAtMs: z.number(),
  opened: z.object({ atMs: z.number(), by: z.string() }).nullable(),
});
type ShareState = z.infer<typeof stateSchema>;

const shareSlice = slice<ShareState | null>({
  name: 'share',
  schema: stateSchema.nullable(),
  initial: null,
});

const create = command(Share.commands.create, {
  creates: true,
  turn: (turn, { encryptedPayload, ...terms }) => {
    const before = turn.get(shareSlice);
    if (before !== null) return { createdAtMs: before.createdAtMs };
    turn.set(shareSlice, { ...terms, createdAtMs: turn.nowMs, opened: null });
    turn.put(shareContentTable, { share_uuid: turn.self.id, content: encryptedPayload });
    turn.arm(Share.timers.confirm, turn.nowMs + confirmAfterMs, null);
    return { createdAtMs: turn.nowMs };
  },
});

const view = workflow(Share.commands.view, async (workflow, { roomBytes }) => {
  const by = hash('sha256', workflow.callId);
  const ownerUuid = await workflow.turn({ turn: (view) => (isOver(view, by) ? undefined : ownerOf(view)) });
  const { shows, bytes } = await askOwner(workflow, ownerUuid);
  if (!shows) return shareNotFound;
  if (bytes > roomBytes) return { ok: { needsBytes: bytes } };
  return workflow.turn({
    // Thousands may come too late for a one-time share, so none of them reads the ciphertext.
    reads: (view) => (isOver(view, by) ? {} : { content: keys(shareContentTable, [contentKey(view)]) }),
    turn: (turn, { content }) => {
      const encryptedPayload = content?.get(contentKey(turn))?.content;
      const state = turn.get(shareSlice);
      if (state === null || encryptedPayload == null || !open(turn, state, by)) return shareNotFound;
      const { type, oneTimeView, viewExpiresMinutes } = state;
      return { ok: { type, encryptedPayload, oneTimeView, viewExpiresMinutes } };
    },
  });
});

/** False if it is over. */
function open(turn: Turn, state: ShareState, by: string): boolean {
  const opening: Opening = { atMs: turn.nowMs, by };
  const status = openingStatus(state, state.opened, opening);
  if (status !== 'first') return status === 'open';
  turn.set(shareSlice, { ...state, opened: opening });
  turn.arm(Share.timers.expire, keptUntilMs(state, opening), null);
  turn.tell(PublicShares, state.ownerUuid).shareOpened({
    shareUuid: turn.self.id,
    atMs: opening.atMs,
    endedAtMs: isOneTime(state) ? endedAtMs(state, opening) : null,
  });
  return true;
}

function isOver(view: View, by: string): boolean {
  const state = view.get(shareSlice);
  const opening = { atMs: Math.floor(view.nowMicros / 1_000), by };
  return state === null || openingStatus(state, state.opened, opening) === 'over';
}

const ownerOf = (view: View): string | undefined => view.get(shareSlice)?.ownerUuid;

interface OwnerView {
  readonly lists: boolean;
  readonly shows: boolean;
  readonly bytes: number;
}

const unknown: OwnerView = { lists: false, shows: false, bytes: 0 };

/** The owner's answer about this share; undefined if there is no owner any more. */
async function askOwner(
  { actors, self }: Pick<Workflow, 'actors' | 'self'>,
  ownerUuid: string | undefined,
): Promise<OwnerView> {
  if (ownerUuid === undefined) return unknown;
  const answer = actors.get(PublicShares, ownerUuid).ask.showsShare({ shareUuid: self.id });
  return (await unlessAbsent(answer)) ?? unknown;
}

const contentKey = ({ self }: Pick<View, 'self'>) => ({ share_uuid: self.id });

function end(turn: Turn): void {
  if (turn.get(shareSlice) === null) return;
  turn.remove(shareContentTable, contentKey(turn));
  turn.tombstone();
}

export const share = kindOf(Share, {
  uses: [],
  slices: [shareSlice],
  tables: [shareContentTable],
  commands: {
    create,
    view,
    end: command(Share.commands.end, (turn) => {
      end(turn);
      return {};
    }),
  },
  tells: { end: tell(Share.tells.end, end) },
  timers: {
    expire: timer(Share.timers.expire, (turn) => {
      const state = turn.get(shareSlice);
      if (state === null || state.opened === null) return;
      const { atMs } = state.opened;
      const ended = { shareUuid: turn.self.id, atMs, endedAtMs: endedAtMs(state, state.opened) };
      turn.tell(PublicShares, state.ownerUuid).shareOpened(ended);
      end(turn);
    }),
    confirm: timer(Share.timers.confirm, (turn) => turn.start(Share.jobs.askOwner, null)),
  },
  jobs: {
    askOwner: job(Share.jobs.askOwner, {
      timeoutMs: askOwnerMs,
      run: async (run) => {
        const { lists } = await askOwner(run, await run.turn({ turn: ownerOf }));
        return run.finish(lists ? undefined : { turn: end });
      },
    }),
  },
});
