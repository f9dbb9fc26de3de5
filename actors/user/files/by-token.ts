/** The commands that carry a valet token, for the user's own files and those in shared vaults (docs/protocol/files.md). */
import { command, keys, sharedRead, type Turn, type View, workflow } from '../../../runtime/command.ts';
import {
  answerIfUnchanged,
  answerToRepeatedClose,
  deleteByToken,
  fileAnswer,
  invalidToken,
  refusalOfChunk,
} from '../../files/by-token.ts';
import { closePersisted } from '../../files/closing.ts';
import { redeem, redeemedOn } from '../../files/redeemed.ts';
import { tellSweeper } from '../../files/state.ts';
import { file, fileKey } from '../../files/tables.ts';
import {
  abandonChunk,
  abandonPlan,
  beginChunk,
  closeUpload,
  finishChunk,
  openUpload,
} from '../../files/uploads.ts';
import type { ValetClaims } from '../../identity/valet-tokens.ts';
import { answerOf, isRefused, type Refused } from '../../reply.ts';
import { allows, allowsAsMinted, allowsUnspent, orOfVault, refusalOfToken } from './access.ts';
import { Files } from './contract.ts';
import { mintValetToken, mintVaultValetToken } from './mint-valet-token.ts';
import { moveFile } from './move-file.ts';
import { ownFiles } from './own-files.ts';
import { holdForVault } from './vault-bytes.ts';

interface ByToken {
  readonly claims: ValetClaims;
}

const ownFile = (view: View, { claims }: ByToken) => ({
  files: keys(file, [fileKey(view, claims.remoteIdentifier)]),
});

/** What a write token allows until it is redeemed. */
function writing<Request extends ByToken, Ok>(run: (turn: Turn, request: Request) => Ok | Refused) {
  return (turn: Turn, request: Request) => {
    const refused = refusalOfToken(turn, request.claims, 'write');
    if (refused !== undefined) return refused;
    return answerOf<Ok>(redeemedOn(turn, request.claims) === undefined ? run(turn, request) : invalidToken);
  };
}

const open = command(
  Files.commands.openUpload,
  writing((turn, { claims, uploadUuid }) => {
    tellSweeper(turn);
    return openUpload(turn, ownFiles(turn), { ...claims, uploadUuid });
  }),
);

const begin = command(
  Files.commands.beginChunk,
  writing((turn, { claims: { remoteIdentifier }, ...chunk }) => {
    return refusalOfChunk(chunk) ?? beginChunk(turn, ownFiles(turn), { remoteIdentifier, ...chunk });
  }),
);

const finish = command(
  Files.commands.finishChunk,
  writing((turn, { claims: { remoteIdentifier }, ...stored }) =>
    finishChunk(turn, ownFiles(turn), { remoteIdentifier, ...stored }),
  ),
);

/** Checks neither session nor token: nobody gains anything by abandoning a chunk. */
const abandon = command(Files.commands.abandonChunk, {
  reads: (view, { claims: { remoteIdentifier }, uploadUuid }) =>
    abandonPlan(view, { remoteIdentifier, uploadUuid }),
  turn: (turn, { claims: { remoteIdentifier }, ...abandoned }, reads) =>
    answerOf(abandonChunk(turn, ownFiles(turn), { remoteIdentifier, ...abandoned }, reads)),
});

const close = workflow(Files.commands.closeUpload, (steps, request) => {
  const { claims } = request;
  return closePersisted(steps, claims.remoteIdentifier, {
    reads: (view) => ownFile(view, request),
    early: (turn) => refusalOfToken(turn, claims, 'write') ?? answerToRepeatedClose(turn, claims),
    close: (turn, { files }) => {
      const row = files.get(fileKey(turn, claims.remoteIdentifier));
      const closed = closeUpload(turn, ownFiles(turn), claims.remoteIdentifier, row);
      if (!isRefused(closed)) redeem(turn, claims, 'close');
      return answerOf(closed);
    },
  });
});

const deleteFile = command(Files.commands.deleteFile, {
  reads: ownFile,
  turn: (turn, { claims }, { files }) => {
    const refused = refusalOfToken(turn, claims, 'delete');
    if (refused !== undefined) return refused;
    const row = files.get(fileKey(turn, claims.remoteIdentifier));
    const deleted = deleteByToken(turn, ownFiles(turn), claims, row);
    return deleted === 'deleted' ? { ok: {} } : deleted;
  },
});

const openFile = sharedRead(Files.commands.openFile, {
  reads: ownFile,
  answer: (view, { claims }, { files }) => {
    const refused = refusalOfToken(view, claims, 'read');
    if (refused !== undefined) return refused;
    if (redeemedOn(view, claims) !== undefined) return invalidToken;
    return fileAnswer(files.get(fileKey(view, claims.remoteIdentifier)));
  },
});

/** A download may have redeemed its token by now, and goes on. */
const checkToken = sharedRead(Files.commands.checkToken, {
  reads: ownFile,
  answer: (view, { claims, uploadUuid }, { files }) => {
    const refused = refusalOfToken(view, claims, claims.operation);
    return refused ?? answerIfUnchanged(files.get(fileKey(view, claims.remoteIdentifier)), uploadUuid);
  },
});

const spendOnRead = command(Files.commands.spendOnRead, (turn, { claims, by }) => {
  const refused = refusalOfToken(turn, claims, 'read');
  if (refused !== undefined) return refused;
  const redeemed = redeemedOn(turn, claims);
  if (redeemed !== undefined) return answerOf(redeemed.by === by ? {} : invalidToken);
  redeem(turn, claims, 'read', by);
  return { ok: {} };
});

export const fileCommands = {
  mintValetToken,
  mintVaultValetToken,
  openUpload: orOfVault(open, allows('write'), (vault, request) => vault.openUpload(request)),
  beginChunk: orOfVault(begin, allows('write'), (vault, request) => vault.beginChunk(request)),
  finishChunk: orOfVault(finish, allows('write'), (vault, request) => vault.finishChunk(request)),
  abandonChunk: orOfVault(abandon, undefined, (vault, request) => vault.abandonChunk(request)),
  closeUpload: orOfVault(close, allows('write'), (vault, request) => vault.closeUpload(request)),
  deleteFile: orOfVault(deleteFile, allows('delete'), (vault, request) => vault.deleteFile(request)),
  openFile: orOfVault(openFile, allowsUnspent('read'), (vault, request) => vault.openFile(request)),
  checkToken: orOfVault(checkToken, allowsAsMinted, (vault, request) => vault.checkToken(request)),
  spendOnRead,
  moveFile,
  holdForVault,
};
