/**
 * Bridge tokens (docs/protocol/account.md, "Bridge tokens"). A program signs in with the token alone, and gets the keys that
 * the client wrapped for it. The part of the token that unwraps them never comes here.
 *
 * Invariants:
 * - A session that a `read` token has opened is read-only for its whole life.
 * - A session of a `write` token may use the commands that `openToBridges` opens, and no other command that writes.
 * - A session ends with its token.
 */
import { z } from 'zod';
import { command, type Turn } from '../../../runtime/command.ts';
import { sliceMap } from '../../../runtime/slice.ts';
import { BridgeTokens, invalidBridgeToken } from '../../identity/bridge-tokens.ts';
import { sessionApiVersions } from '../../identity/session.ts';
import { findBySecret, makeSecret, shownOnceFields } from '../../identity/shown-once.ts';
import { sessionReply } from '../../identity/sign-in-reply.ts';
import { answerOf, refuse } from '../../reply.ts';
import { isoTime, isoTimeOrNull, newestFirst } from '../../times.ts';
import { type OwnAccount, ownAccount, ownRow } from '../account/own-account.ts';
import { audit } from '../audit/trail.ts';
import { userPart } from '../hooks.ts';
import { isBanned, profileSlice } from '../profile.ts';
import { issueSession } from '../sessions/issue.ts';
import { endSessions, sessionMap } from '../sessions/session.ts';
import { signedInRead, signedInTurn } from '../signed-in.ts';
import { Bridges, bridgeScopes, keyMaterialSchema, scopesByOtherName } from './contract.ts';

const bridgeTokensMax = 20;
const labelCharactersMax = 255;
/** For all tokens of an account together. Their keys are in memory while the account is active. */
const allKeysBytesMax = 1024 * 1024;

const storedSchema = z.object({
  ...shownOnceFields,
  scope: z.enum(bridgeScopes),
  scopeTagUuids: z.array(z.string()).nullable(),
  keys: keyMaterialSchema,
  lastUsedFrom: z.string().nullable(),
});
type BridgeToken = z.infer<typeof storedSchema>;

/** Keyed by uuid. */
const bridgeTokenMap = sliceMap<BridgeToken>({
  family: 'bridge-token',
  entriesMax: bridgeTokensMax,
  schema: storedSchema,
});

const labelMissing = refuse.badRequest('Give the token a name.');
const tooMany = refuse.badRequest(`There are ${bridgeTokensMax} bridge tokens already. Delete one first.`);
const tooMuch = refuse.badRequest(
  `The keys of all bridge tokens take at most ${allKeysBytesMax} bytes. Delete a token first.`,
);
const unknown = refuse.notFound('There is no such bridge token.');
const unsupportedVersion = refuse.badRequest('This version of the interface is not supported.');

const makeBridgeToken = signedInTurn(Bridges.commands.makeBridgeToken, {
  repeat: 'recorded',
  turn: (
    turn,
    { label: labelText, scope: scopeText, scopeTagUuids: tags, wrappedKeys, kdfSalt, kdfParams },
    _reads,
    by,
  ) => {
    const label = labelText.trim().slice(0, labelCharactersMax);
    if (label === '') return labelMissing;
    if (turn.entries(bridgeTokenMap).size >= bridgeTokensMax) return tooMany;
    if (keysBytes(turn) + Buffer.byteLength(wrappedKeys) > allKeysBytesMax) return tooMuch;
    const scope = scopeText === 'read' || scopeText === 'write' ? scopeText : scopesByOtherName[scopeText];
    const { secret, secretHash } = makeSecret(turn.random);
    const made: BridgeToken = {
      uuid: turn.random.uuid(),
      label,
      scope,
      secretHash,
      scopeTagUuids: tags == null || tags.length === 0 ? null : tags,
      keys: { wrappedKeys, kdfSalt, kdfParams },
      createdAtMs: turn.nowMs,
      lastUsedAtMs: null,
      lastUsedFrom: null,
    };
    turn.setEntry(bridgeTokenMap, made.uuid, made);
    audit(turn, 'bridge-token-made', by.session, made.uuid);
    const named = { userUuid: turn.self.id, tokenUuid: made.uuid, secret };
    return { mcpToken: toResponse(made), token: turn.use(BridgeTokens).mint(named) };
  },
});

const keysBytes = (turn: Turn): number =>
  [...turn.entries(bridgeTokenMap).values()].reduce(
    (sum, { keys }) => sum + Buffer.byteLength(keys.wrappedKeys),
    0,
  );

const listBridgeTokens = signedInRead(Bridges.commands.listBridgeTokens, (view) => {
  const mcpTokens = newestFirst(view.entries(bridgeTokenMap).values()).map((token) => ({
    ...toResponse(token),
    lastUsedAt: isoTimeOrNull(token.lastUsedAtMs),
    lastUsedFrom: token.lastUsedFrom,
  }));
  return { mcpTokens };
});

const deleteBridgeToken = signedInTurn(
  Bridges.commands.deleteBridgeToken,
  (turn, { bridgeTokenUuid }, _reads, { session }) => {
    if (turn.entry(bridgeTokenMap, bridgeTokenUuid) === undefined) return unknown;
    endBridgeToken(turn, bridgeTokenUuid);
    audit(turn, 'bridge-token-deleted', session, bridgeTokenUuid);
    return { message: 'The bridge token is deleted.' };
  },
);

/** Removes a bridge token, and ends the sessions that it has opened. */
function endBridgeToken(turn: Turn, bridgeTokenUuid: string): void {
  turn.removeEntry(bridgeTokenMap, bridgeTokenUuid);
  const opened = [...turn.entries(sessionMap).values()].filter(
    ({ bridgeToken }) => bridgeToken === bridgeTokenUuid,
  );
  endSessions(
    turn,
    opened.map(({ uuid }) => uuid),
  );
}

function endAllBridgeTokens(turn: Turn): void {
  for (const uuid of turn.entries(bridgeTokenMap).keys()) endBridgeToken(turn, uuid);
}

const getBridgeTokenKeys = signedInRead(Bridges.commands.getBridgeTokenKeys, (view, { bridgeTokenUuid }) => {
  const token = view.entry(bridgeTokenMap, bridgeTokenUuid);
  if (token === undefined) return unknown;
  return { ...token.keys, scope: token.scope, scopeTagUuids: token.scopeTagUuids };
});

const authenticateBridge = command(Bridges.commands.authenticateBridge, {
  repeat: 'recorded',
  reads: ownAccount,
  turn: (turn, request, reads) => answerOf(openBridgeSession(turn, request, reads)),
});

type Authentication = z.infer<typeof Bridges.commands.authenticateBridge.request>;

function openBridgeSession(
  turn: Turn,
  { tokenUuid, secret, apiVersion, device }: Authentication,
  reads: OwnAccount,
) {
  const named = turn.entry(bridgeTokenMap, tokenUuid);
  const token = findBySecret(named === undefined ? [] : [named], secret);
  const profile = turn.get(profileSlice);
  if (token === undefined || profile.state !== 'active' || isBanned(turn))
    return { refused: invalidBridgeToken };
  if (!sessionApiVersions.includes(apiVersion)) return unsupportedVersion;
  const used = { lastUsedAtMs: turn.nowMs, lastUsedFrom: device.ipAddress };
  turn.setEntry(bridgeTokenMap, tokenUuid, { ...token, ...used });
  audit(turn, 'bridge-token-used', device, tokenUuid);
  const issued = issueSession(turn, {
    apiVersion,
    device,
    ephemeral: false,
    readonly: token.scope === 'read',
    bridgeToken: tokenUuid,
  });
  const { scope: access, scopeTagUuids } = token;
  return {
    ...sessionReply(ownRow(turn, reads), profile, issued),
    mcp_scope: { access, ...(scopeTagUuids !== null && { tagUuids: scopeTagUuids }) },
    mcp_key_material: token.keys,
  };
}

/** Tokens do not expire. */
function toResponse({ uuid, label, scope, scopeTagUuids, createdAtMs }: BridgeToken) {
  return { uuid, label, scope, scopeTagUuids, createdAt: isoTime(createdAtMs), expiresAt: null };
}

export const bridges = userPart(Bridges, {
  name: 'bridges',
  uses: [BridgeTokens],
  slices: [bridgeTokenMap],
  commands: {
    makeBridgeToken,
    listBridgeTokens,
    deleteBridgeToken,
    getBridgeTokenKeys,
    authenticateBridge,
  },
  on: { credentialsChanged: endAllBridgeTokens },
});
