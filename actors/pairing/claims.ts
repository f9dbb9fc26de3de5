/** Reads names for people out of tokens without verifying these: the provider that made them has just made the grant. */

const labelCharactersMax = 256;

interface Labels {
  readonly accountLabel: string | null;
  readonly accountId: string | null;
}

export function labelsOf(idToken: unknown, accessToken: unknown, accountIdClaim: string | undefined): Labels {
  const [ofId, ofAccess] = [claimsOf(idToken), claimsOf(accessToken)];
  const found = (claim: string | undefined): string | null =>
    claim === undefined ? null : (displayText(claimIn(ofId, claim)) ?? displayText(claimIn(ofAccess, claim)));
  return {
    accountLabel: displayText(ofId['email']) ?? displayText(ofId['name']),
    accountId: found(accountIdClaim),
  };
}

type Claims = Readonly<Record<string, unknown>>;

function claimsOf(token: unknown): Claims {
  if (typeof token !== 'string') return {};
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    return typeof claims === 'object' && claims !== null ? (claims as Claims) : {};
  } catch {
    return {};
  }
}

/** The name of a claim may be an address, whose dots belong to it. */
function claimIn(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let found: unknown = claims;
  for (const step of name.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined;
    found = (found as Claims)[step];
  }
  return found;
}

function displayText(value: unknown): string | null {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string') return null;
  // Characters that cannot be stored go too; halves of surrogate pairs are among them.
  const plain = [...text.replaceAll(/\p{C}/gu, '').trim()].slice(0, labelCharactersMax).join('');
  return plain === '' ? null : plain;
}
