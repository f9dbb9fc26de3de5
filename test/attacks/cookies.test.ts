/** Callers who send more cookies than their session has. */
import test from 'ava';
import { namedSecret } from '../../actors/identity/session-tokens.ts';
import { pairStatusOf, type Session, secretHash } from '../../actors/user/sessions/session.ts';
import { secretsMax } from '../../gateway/http/cookies.ts';

const pairsMax = 201;

test('however many cookies are sent, each token pair of a session is looked at once', (t) => {
  let looks = 0;
  const pair = {
    style: 2 as const,
    get accessHash() {
      looks += 1;
      return secretHash('the right one');
    },
    refreshHash: '',
  };
  const replaced = Array.from({ length: pairsMax - 1 }, () =>
    Object.defineProperty(Object.create(pair), 'replacedAtMs', { value: 0 }),
  );
  const session = { uuid: 'session', current: pair, replaced } as unknown as Session;
  const wrong = Array.from({ length: secretsMax }, (_, index) => namedSecret('session', `wrong ${index}`));
  t.is(pairStatusOf(session, 'accessHash', { style: 2, secrets: wrong }, -1), undefined);
  t.is(looks, pairsMax);
  const right = [...wrong, namedSecret('session', 'the right one')];
  t.is(pairStatusOf(session, 'accessHash', { style: 2, secrets: right }, -1), 'current');
});
