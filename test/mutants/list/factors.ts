import type { Mutant } from '../mutant.ts';

const app = ['test/behaviour/accounts/authenticator-app.test.ts'];
const factor = ['test/behaviour/accounts/second-factor.test.ts'];
const keyAttacks = ['test/attacks/security-keys.test.ts'];
const devices = ['test/behaviour/accounts/trusted-devices.test.ts'];
const bridge = ['test/behaviour/accounts/bridge-tokens.test.ts'];
const recovery = ['test/behaviour/accounts/recovery.test.ts'];
const settings = ['test/behaviour/accounts/settings.test.ts'];
const secrets = ['test/behaviour/accounts/secrets.test.ts'];
const recoveryAttacks = ['test/attacks/recovery.test.ts'];
const bridgeAttacks = ['test/attacks/bridges.test.ts'];
const timing = ['test/attacks/timing.test.ts'];
const mailed = ['test/behaviour/accounts/emailed-codes.test.ts'];
const mailedAttacks = ['test/attacks/emailed-codes.test.ts'];
const folder = 'actors/user/factors';

export const mutants: readonly Mutant[] = [
  {
    name: 'certificates-of-a-key-are-read',
    harm: 'Anyone with an account has the server fetch any address, its own network included, and as much as it holds.',
    file: `${folder}/authenticators.ts`,
    find: 'await withoutAttestation(attestationResponse)',
    replace: 'await Promise.resolve(attestationResponse as unknown as RegistrationResponseJSON)',
    tests: keyAttacks,
  },
  {
    name: 'a-code-that-counts-twice',
    harm: 'A code that was watched over the shoulder signs somebody else in.',
    file: `${folder}/totp.ts`,
    find: "if (totp.usedStep !== null && step <= totp.usedStep) return 'used';",
    replace: '',
    tests: factor,
  },
  {
    name: 'a-factor-turned-off-without-the-password',
    harm: 'An unlocked phone is enough to turn the second factor off.',
    file: 'actors/user/settings/part.ts',
    find: "if (known === 'MFA_SECRET') {",
    replace: "if (known === 'EXTENSION_KEY') {",
    tests: app,
  },
  {
    name: 'recovery-codes-shown-without-the-password',
    harm: 'An unlocked phone shows what passes the second factor.',
    file: 'actors/user/settings/part.ts',
    find: "(settingNamed(name) === 'RECOVERY_CODES' ? showRecoveryCodes : showSetting)",
    replace: 'showSetting',
    tests: app,
  },
  {
    name: 'a-challenge-kept-without-the-factor',
    harm: 'The second factor is asked for and not needed.',
    file: 'actors/signin/login-params.ts',
    find: "if (!('passed' in outcome)) return refusalOf({ turn, request, account, unmet: outcome, origin });",
    replace:
      "if (!('passed' in outcome)) { storeChallenge(turn, request.codeChallenge, origin, wayOf(request)); return refusalOf({ turn, request, account, unmet: outcome, origin }); }",
    tests: factor,
  },
  {
    name: 'guesses-at-a-factor-without-end',
    harm: 'A million codes are tried until one is right.',
    file: 'actors/signin/login-params.ts',
    find: 'if (refusedAttempt(turn, origin, true) !== undefined) {\n      return { refused: {',
    replace: 'if (turn.nowMs < 0) {\n      return { refused: {',
    tests: factor,
  },
  {
    name: 'a-bridge-that-makes-itself-at-home',
    harm: 'A stolen bridge token makes itself others, and an app password, and changes settings.',
    file: 'actors/user/signed-in.ts',
    find: '(bridges ? undefined : refusalOfBridge(session))',
    replace: 'undefined',
    tests: bridgeAttacks,
  },
  {
    name: 'a-bridge-past-the-second-factor',
    harm: 'Anyone with a bridge token and the password signs in as the owner, without the second factor.',
    file: 'actors/user/account/part.ts',
    find: '!readonly && !isBridge(session)',
    replace: '!readonly',
    tests: bridgeAttacks,
  },
  {
    name: 'nobody-looked-for-in-the-database',
    harm: 'An attacker who measures long enough sees which addresses have accounts.',
    file: 'actors/signin/login-params.ts',
    find: 'isNobody: account === undefined,',
    replace: 'isNobody: false,',
    tests: timing,
  },
  {
    name: 'a-mailed-code-that-counts-twice',
    harm: 'A later reader of the mail signs in, too.',
    file: 'actors/signin/emailed-codes.ts',
    find: 'turn.setEntry(emailedCodeMap, key, { ...mailed, nonce: null });',
    replace: 'turn.setEntry(emailedCodeMap, key, mailed);',
    tests: mailed,
  },
  {
    name: 'a-mailed-code-that-is-guessed-at-without-end',
    harm: 'A million guesses at six digits find one code.',
    file: 'actors/signin/emailed-codes.ts',
    find: 'const nonce = guesses >= guessesMax ? null : mailed.nonce;',
    replace: 'const { nonce } = mailed;',
    tests: mailed,
  },
  {
    name: 'codes-of-an-address-left-behind',
    harm: 'A reader of the old mailbox signs in once the owner is back at that address.',
    file: 'actors/signin/expiry.ts',
    find: '  forgetEmailedCodes(turn);\n  turn.set(',
    replace: '  turn.set(',
    tests: mailedAttacks,
  },
  {
    name: 'a-challenge-for-any-way',
    harm: 'Recovery codes pass the second factor again and again, without being used up.',
    file: 'actors/signin/challenges.ts',
    find: 'return madeFor === way;',
    replace: 'return true;',
    tests: recoveryAttacks,
  },
  {
    name: 'no-factor-for-nobody',
    harm: 'Being asked for a factor shows that there is an account.',
    file: 'actors/identity/signin-keys.ts',
    find: 'if (draw >= 128) return undefined;',
    replace: 'if (draw >= 0) return undefined;',
    tests: ['actors/identity/signin-keys.test.ts'],
  },
  {
    name: 'an-approval-that-passes-forever',
    harm: 'One approval is a key for as long as it is shown.',
    file: 'actors/signin/approvals.ts',
    find: "  turn.setEntry(approvalMap, approval.uuid, { ...approval, status: 'used', usedBy: callId });\n",
    replace: '  void callId;\n',
    tests: factor,
  },
  {
    name: 'a-device-trusted-forever',
    harm: 'A laptop that was sold years ago needs no second factor.',
    file: `${folder}/trusted-devices.ts`,
    find: 'return found !== undefined && state.nowMs < found.expiresAtMs ? found : undefined;',
    replace: 'if (found === undefined) return false;',
    tests: factor,
  },
  {
    name: 'devices-trusted-after-a-change-of-the-password',
    harm: 'A device from before the change of the password still passes the second factor.',
    file: 'actors/user/factors/part.ts',
    find: '      distrustAllDevices(turn);\n',
    replace: '',
    tests: devices,
  },
  {
    name: 'a-reading-bridge-that-writes',
    harm: 'A program that may read changes notes.',
    file: 'actors/user/bridge/part.ts',
    find: "readonly: token.scope === 'read',",
    replace: 'readonly: false,',
    tests: bridge,
  },
  {
    name: 'bridge-sessions-that-outlive-their-token',
    harm: 'A token that leaked is deleted, and its thief reads on.',
    file: 'actors/user/bridge/part.ts',
    find: '({ bridgeToken }) => bridgeToken === bridgeTokenUuid,',
    replace: '() => false,',
    tests: bridge,
  },
  {
    name: 'recovery-codes-that-stay',
    harm: 'Codes that were used once open the account again.',
    file: `${folder}/restore.ts`,
    find: '  generateRecoveryCodes(turn);\n',
    replace: '',
    tests: recovery,
  },
  {
    name: 'an-escrow-of-the-first-form',
    harm: 'What rests on a password alone is given to anybody who asks.',
    file: 'actors/user/settings/known.ts',
    find: 'version > 1',
    replace: 'version > 0',
    tests: recovery,
  },
  {
    name: 'escrow-look-ups-without-end',
    harm: 'All users are asked for until one has left something.',
    file: 'actors/signin/counted-attempt.ts',
    find: 'if (refusedAttempt(turn, origin, true) !== undefined) return tooMany;',
    replace: '',
    tests: recovery,
  },
  {
    name: 'settings-of-somebody-else',
    harm: 'Any user reads and sets what is another’s.',
    file: 'actors/user/signed-in.ts',
    find: 'if (ofUser && userUuid !== view.self.id) return { caller, ...anotherUsers };',
    replace: '',
    tests: settings,
  },
  {
    name: 'settings-of-administrators-set-by-users',
    harm: 'A user raises their own limits.',
    file: 'actors/user/settings/part.ts',
    find: "if (knownSetting(name).setBy !== 'user') return notChangedHere;",
    replace: '',
    tests: settings,
  },
  {
    name: 'secrets-in-plain-text',
    harm: 'A reader of a backup passes the second factor of everybody.',
    file: 'actors/user/settings/stored.ts',
    find: 'value !== null && knownSetting(name).secret === true ? sealed(turn, name, value) : value',
    replace: 'value',
    tests: secrets,
  },
];
