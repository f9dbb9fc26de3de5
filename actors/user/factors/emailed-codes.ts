/**
 * Codes by e-mail as a second factor (docs/protocol/account.md, "Codes by e-mail"). The `signin` actor of the address makes and
 * checks the codes. The account says whether it asks for them, and mails them.
 */
import { tell, type View } from '../../../runtime/command.ts';
import { SigninKeys } from '../../identity/signin-keys.ts';
import { mailAddress } from '../../mailer/address.ts';
import { isMailConfigured } from '../../mailer/outgoing.ts';
import { refuse } from '../../reply.ts';
import { restartSignIns } from '../account/password-guard.ts';
import { audit } from '../audit/trail.ts';
import { sendMail } from '../mails.ts';
import { isBanned, profileSlice } from '../profile.ts';
import { putSetting, removeSetting, settingValue } from '../settings/stored.ts';
import { signedInRead, signedInWorkflow } from '../signed-in.ts';
import { Factors } from './contract.ts';

const noMail = refuse.badRequest('This server is not set up to send mail.');
const noAddress = refuse.badRequest('No mail can be sent to the name of this account.');

export const areCodesEmailed = (view: View): boolean => settingValue(view, 'MAGIC_LINK_ENABLED') === 'true';

export const canMailCodes = (email: string): boolean => mailAddress(email) !== undefined;

const showEmailedCodes = signedInRead(Factors.commands.showEmailedCodes, (view) => ({
  enabled: areCodesEmailed(view),
}));

const switchEmailedCodes = signedInWorkflow(
  Factors.commands.switchEmailedCodes,
  async (workflow, { enabled: input }) => {
    const enabled = input === true || input === 'true';
    const isReachable = await workflow.turn({
      turn: (turn) => canMailCodes(turn.get(profileSlice).email),
    });
    if (enabled && !isReachable) return noAddress;
    if (enabled && !(await isMailConfigured(workflow.actors))) return noMail;
    return workflow.lastTurn({
      turn: (turn, _reads, { session }) => {
        if (enabled === areCodesEmailed(turn)) return { enabled };
        if (enabled) {
          putSetting(turn, 'MAGIC_LINK_ENABLED', 'true');
          restartSignIns(turn);
        } else removeSetting(turn, 'MAGIC_LINK_ENABLED');
        audit(turn, enabled ? 'emailed-codes-on' : 'emailed-codes-off', session);
        return { enabled };
      },
    });
  },
);

/** A sign-in at `email` has asked for a code. */
export const mailCodeTell = tell(Factors.tells.mailCode, (turn, { email, workspace, nonce, expiresAtMs }) => {
  const profile = turn.get(profileSlice);
  const isTheirs = profile.state === 'active' && profile.email === email && profile.workspace === workspace;
  const recipient = mailAddress(email);
  if (!isTheirs || isBanned(turn) || !areCodesEmailed(turn) || recipient === undefined) return;
  const keys = turn.use(SigninKeys);
  const code = keys.emailedCode(keys.actorId({ email, workspace }), nonce);
  sendMail(turn, {
    id: turn.random.uuid(),
    source: 'magic-link',
    expiresAtMs,
    recipient,
    subject: 'Your code to sign in',
    text: mailOf(code),
  });
});

const mailOf = (code: string): string =>
  [
    `Your code to sign in: ${code}`,
    '',
    'It works once, within fifteen minutes.',
    'If you are not signing in, somebody else knows your address: ignore this mail, and tell nobody the code.',
    '',
  ].join('\n');

export const emailedCodeCommands = { showEmailedCodes, switchEmailedCodes };
