import type { ClockedView } from '../../../runtime/command.ts';
import type { SessionEntry } from '../../identity/session.ts';
import { isoTime } from '../../times.ts';
import { signedInRead } from '../signed-in.ts';
import { Sessions } from './contract.ts';
import { deviceInfo } from './device-info.ts';
import { knowsNoSessions, lastUseMs, type Session, sessionMap } from './session.ts';

export const listSessions = signedInRead({
  ...Sessions.commands.listSessions,
  answer: (view, _request, _reads, { session: current, readonly }) => {
    if (current.legacy) return knowsNoSessions;
    return readonly ? [] : listEntries(view, current);
  },
});

function listEntries(view: ClockedView, current: Session): SessionEntry[] {
  return [...view.entries(sessionMap).values()]
    .filter((session) => view.nowMs < session.keptUntilMs)
    .toSorted((a, b) => b.refreshExpiresAtMs - a.refreshExpiresAtMs)
    .map((session) => entryOf(session, lastUseMs(view.activation, session), session.uuid === current.uuid));
}

function entryOf(session: Session, usedMs: number, current: boolean): SessionEntry {
  return {
    uuid: session.uuid,
    api_version: session.apiVersion,
    created_at: isoTime(session.createdAtMs),
    updated_at: isoTime(usedMs),
    device_info: deviceInfo(session.userAgent),
    user_agent: session.userAgent,
    ip_address: session.ipAddress,
    current,
    readonly_access: session.readonly,
  };
}
