import test from 'ava';
import { type ActorSubscription, SubscriptionIndex } from './subscription-index.ts';

test('the subscriptions of a shard are found without a look at those of others', (t) => {
  const index = new SubscriptionIndex();
  let looks = 0;
  for (let number = 0; number < 1_000; number += 1) {
    const shard = number % 100;
    const subscription = {
      key: `user/${number}`,
      actor: { kind: 'user', id: String(number) },
      get shard() {
        looks += 1;
        return shard;
      },
    };
    index.add(subscription as unknown as ActorSubscription);
  }
  looks = 0;
  t.deepEqual(
    index.ofShard(7).map(({ key }) => key),
    Array.from({ length: 10 }, (_, at) => `user/${at * 100 + 7}`),
  );
  t.is(looks, 0);
});
