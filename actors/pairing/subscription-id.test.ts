import test from 'ava';
import { isSubscriptionId } from './subscription-id.ts';

test('an id has 1 to 128 letters, digits, dots, underscores and hyphens, and a letter or digit at both ends', (t) => {
  for (const id of ['a', '7', 'A.b_c-9', 'default', 'x'.repeat(128)]) t.true(isSubscriptionId(id), id);
  for (const id of ['', '-a', 'a-', '.a', 'a.', '_', 'a b', 'é', 'a/b', 'a\n', 'x'.repeat(129), 7, null]) {
    t.false(isSubscriptionId(id), String(id));
  }
});
