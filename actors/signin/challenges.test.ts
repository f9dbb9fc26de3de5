import test from 'ava';
import { challengesOf } from './challenges.ts';

/** The verifier and challenge of RFC 7636, appendix B. */
const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';

test('a verifier has the challenge of the standard and that of snjs', (t) => {
  const [hexText, rawBytes] = challengesOf(verifier);
  t.is(rawBytes, 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM');
  t.is(hexText.length, 86);
  const hex = Buffer.from(rawBytes, 'base64url').toString('hex');
  t.is(Buffer.from(hexText, 'base64url').toString('latin1'), hex);
});
