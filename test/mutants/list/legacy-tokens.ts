import type { Mutant } from '../mutant.ts';

const legacy = ['test/behaviour/accounts/legacy.test.ts'];
const account = 'actors/user/account';
const sessions = 'actors/user/sessions';

export const mutants: readonly Mutant[] = [
  {
    name: 'old-accounts-made-anew',
    harm: 'A client makes accounts whose keys are derived too weakly.',
    file: account,
    find: 'if (!hasSessions(version) && !endToEndTesting) return unsupportedVersion;',
    replace: '',
    tests: legacy,
    match: 'registration of*',
  },
  {
    name: 'old-accounts-without-their-salt',
    harm: 'An account is made whose owner can never derive its keys again.',
    file: `${account}/register.ts`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a source
    find: 'if (missing !== undefined) return refuse(400, `${missing} is missing.`);',
    replace: '',
    tests: legacy,
    match: 'an account of * is not made*',
  },
  {
    name: 'an-upgrade-undone',
    harm: 'A client is talked into the weaker keys of a former protocol.',
    file: account,
    find: 'const isWeaker = !hasSessions(version) && version < before && version !== revertsTo;',
    replace: 'const isWeaker = false;',
    tests: legacy,
    match: 'an account never goes back*',
  },
  {
    name: 'legacy-tokens-that-outlive-their-hash',
    harm: 'A stolen token works on after an upgrade that kept the password.',
    file: account,
    find: ' || !hasSessions(profile.protocolVersion)) endAllSessions',
    replace: ') endAllSessions',
    tests: legacy,
    match: 'an upgrade to 004 with the same*',
  },
  {
    name: 'sessions-for-old-accounts',
    harm: 'Clients of old accounts are given sessions that they do not expect.',
    file: sessions,
    find: 'hasSessions(protocolVersion) ? openSession',
    replace: 'protocolVersion !== undefined ? openSession',
    tests: legacy,
    match: 'signing in with*',
  },
  {
    name: 'legacy-tokens-that-are-to-be-refreshed',
    harm: 'Clients of old accounts are told to refresh a token that cannot be refreshed, for ever.',
    file: sessions,
    find: '  if (session.legacy) return true;\n',
    replace: '',
    tests: legacy,
    match: 'a token is good for*',
  },
  {
    name: 'legacy-tokens-refreshed',
    harm: 'The refusal of a refresh tells that the token is one of an old account.',
    file: sessions,
    find: 'session === undefined || session.legacy',
    replace: 'session === undefined',
    tests: legacy,
    match: 'the endpoints of sessions*',
  },
  {
    name: 'sessions-listed-to-legacy-tokens',
    harm: 'Clients of old accounts show a list that they cannot work with.',
    file: sessions,
    find: 'if (current.legacy) return knowsNoSessions;\n    return readonly',
    replace: 'return readonly',
    tests: legacy,
    match: 'the endpoints of sessions*',
  },
  {
    name: 'sessions-revoked-by-legacy-tokens',
    harm: 'A client of an old account wipes the other devices of its owner.',
    file: sessions,
    find: 'if (current.legacy) return knowsNoSessions;\n    const others',
    replace: 'const others',
    tests: legacy,
    match: 'the endpoints of sessions*',
  },
  {
    name: 'key-params-of-another-version',
    harm: 'The owner of an account of 001 or 002 is not told the salt and cannot sign in.',
    file: 'actors/identity',
    find: 'derivations[version] ?? nonceAlone',
    replace: 'nonceAlone',
    tests: legacy,
    match: 'an account of * has the key params*',
  },
];
