/**
 * The authenticator app as a second factor (docs/protocol/account.md, "Authenticator app"). It is TOTP by RFC 6238 with SHA-1, 6
 * digits, steps of 30 s and a secret of 20 bytes.
 *
 *     offered    a fresh secret, shown to the client; the same one for five minutes
 *     enabled    by a code made from it; recovery codes are made with it
 *     disabled   by the password; its recovery codes go with it
 *
 * Invariants:
 * - A code is accepted once. After that neither its step nor earlier ones count. The code that turned the factor on does not
 *   count as used, so that a sign-in in the same half minute works.
 * - A secret that was offered and not confirmed is no factor.
 */
import { ScureBase32Plugin, verifySync } from 'otplib';
import { z } from 'zod';
import type { ClockedView, Turn, View } from '../../../runtime/command.ts';
import { slice } from '../../../runtime/slice.ts';
import { UserSecrets } from '../../identity/user-secrets.ts';
import { type Refused, refuse } from '../../reply.ts';
import { restartSignIns } from '../account/password-guard.ts';
import { putSetting, removeSetting, settingValue } from '../settings/stored.ts';
import { signedInTurn } from '../signed-in.ts';
import { Factors } from './contract.ts';
import { generateRecoveryCodes } from './recovery-codes.ts';

const secretBytes = 20;
const offerMs = 300_000;
/** One step before and one after, as the clocks of phones differ. */
const toleranceSeconds = 30;
const base32 = new ScureBase32Plugin();
/** A sign-in looks whether its code is right, and then uses it up. */
const comparisonsOfCode = 2;
const dummySecret = base32.encode(new Uint8Array(secretBytes), { padding: false });

const alreadyOn = refuse.badRequest('The authenticator app is on already. Turn it off first.');
const codeMissing = refuse.badRequest('Enter the code that your authenticator app shows.');
const nothingOffered = refuse.badRequest('This took too long. Please start again.');
const wrongCode = refuse.badRequest('The code is not right. Please try again.');

const sealedSchema = z.instanceof(Uint8Array) as z.ZodType<Uint8Array>;

const totpSchema = z.object({
  /** The secret that was shown last, which may still be confirmed. */
  offered: z.object({ secret: sealedSchema, untilMs: z.number() }).nullable(),
  /** The step of the last code that was accepted. */
  usedStep: z.number().nullable(),
});
type Totp = Readonly<z.infer<typeof totpSchema>>;

export const totpSlice = slice<Totp>({
  name: 'totp',
  schema: totpSchema,
  initial: { offered: null, usedStep: null },
});

export const isTotpOn = (view: View): boolean => settingValue(view, 'MFA_SECRET') !== null;

export const offerTotpSecret = signedInTurn(Factors.commands.offerTotpSecret, (turn) => {
  if (isTotpOn(turn)) return alreadyOn;
  const before = offeredSecret(turn);
  if (before !== undefined) return { success: true, secret: before };
  const secret = base32.encode(turn.random.bytes(secretBytes), { padding: false });
  const sealed = turn.use(UserSecrets).seal(sealedFor(turn), secret, turn.random);
  const offered = { secret: sealed, untilMs: turn.nowMs + offerMs };
  turn.set(totpSlice, { ...turn.get(totpSlice), offered });
  return { success: true, secret };
});

/** Undefined: it is on now. */
export function enableTotp(turn: Turn, secret: string | null, code: string | undefined): Refused | undefined {
  if (isTotpOn(turn)) return alreadyOn;
  if (code === undefined || code === '') return codeMissing;
  const offered = offeredSecret(turn);
  if (offered === undefined || secret !== offered) return nothingOffered;
  if (stepOf(offered, code, turn.nowMs) === undefined) return wrongCode;
  putSetting(turn, 'MFA_SECRET', offered);
  turn.set(totpSlice, totpSlice.initial);
  generateRecoveryCodes(turn);
  restartSignIns(turn);
  return undefined;
}

export function disableTotp(turn: Turn): void {
  removeSetting(turn, 'MFA_SECRET');
  removeSetting(turn, 'RECOVERY_CODES');
  turn.set(totpSlice, totpSlice.initial);
}

/** Whether this is a code of this time, used or not. */
export const isTotpCode = (view: ClockedView, code: string): boolean => ownStepOf(view, code) !== undefined;

/** For an address without an account that seems to have an app: takes as long as a sign-in with a wrong code. */
export function compareDummyCode(code: string): void {
  for (let compared = 0; compared < comparisonsOfCode; compared += 1) stepOf(dummySecret, code, offerMs);
}

/** Uses a right code up. */
export function acceptTotp(turn: Turn, code: string): 'accepted' | 'wrong' | 'used' {
  const step = ownStepOf(turn, code);
  if (step === undefined) return 'wrong';
  const totp = turn.get(totpSlice);
  if (totp.usedStep !== null && step <= totp.usedStep) return 'used';
  turn.set(totpSlice, { ...totp, usedStep: step });
  return 'accepted';
}

function ownStepOf(view: ClockedView, code: string): number | undefined {
  const secret = settingValue(view, 'MFA_SECRET');
  return secret === null ? undefined : stepOf(secret, code, view.nowMs);
}

/** The step of a code of this time. The library compares in constant time. */
function stepOf(secret: string, code: string, nowMs: number): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined;
  const epoch = Math.floor(nowMs / 1_000);
  const verified = verifySync({ secret, token: code, epoch, epochTolerance: toleranceSeconds });
  return verified.valid && 'timeStep' in verified ? verified.timeStep : undefined;
}

function offeredSecret(turn: Turn): string | undefined {
  const { offered } = turn.get(totpSlice);
  if (offered === null || turn.nowMs >= offered.untilMs) return undefined;
  return turn.use(UserSecrets).open(sealedFor(turn), offered.secret);
}

const sealedFor = (turn: Turn) => ({ userUuid: turn.self.id, purpose: 'offered TOTP secret' });
