/** With limits on, a flood learns when to come back. */
import test from 'ava';
import { requestBytes } from './raw-http.ts';
import { bearer, type Headers, jsonType, World } from './world.ts';

const perMinute = 12;
let world: World;
test.before(async () => {
  world = await World.open({
    RATE_LIMIT_PUBLIC: String(perMinute),
    RATE_LIMIT_SESSION: String(perMinute),
    LOG_LEVEL: 'debug',
  });
});
test.after.always(() => world.close());

/** Each address has its own count, so that one test does not use up another's. */
async function flood(target: string, address: string, headers: Headers): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (let n = 0; n < 3 * perMinute; n++) {
    const bytes = requestBytes({
      method: 'POST',
      target,
      headers: [...jsonType, ['X-Forwarded-For', address], ...headers],
      body: '{',
    });
    const { answers } = await world.raw([bytes]);
    const [answer] = answers;
    if (answer === undefined) throw new Error('no answer');
    statuses.push(answer.status);
    if (answer.status !== 429) continue;
    const { error } = JSON.parse(answer.body.toString()) as { error: { message: string } };
    const seconds = answer.headers.get('retry-after') ?? '';
    if (error.message === '' || !/^[1-9]\d?$/.test(seconds)) throw new Error(`${error.message} ${seconds}`);
  }
  return statuses;
}

test.serial('a flood from one address is 429 with a time to come back, known paths or not', async (t) => {
  const floods: readonly [target: string, headers: Headers, otherwise: number][] = [
    ['/v2/login', [], 400],
    ['/v1/none', [], 404],
    ['/v1/%00', [], 400],
    ['/v1/items', [], 401],
    ['/v1/items', bearer(world.sender), 400],
  ];
  for (const [index, [target, headers, otherwise]] of floods.entries()) {
    const statuses = await flood(target, `192.0.2.${index + 1}`, headers);
    t.deepEqual([...new Set(statuses)].sort(), [otherwise, 429].sort(), target);
    t.true(statuses.filter((status) => status === otherwise).length >= perMinute, target);
  }
  await world.rest();
});

test.serial('probes and other addresses are answered during a flood', async (t) => {
  await flood('/v2/login', '192.0.2.99', []);
  t.is((await world.post('/v2/login', '{', [['X-Forwarded-For', '192.0.2.100']])).status, 400);
  for (let n = 0; n < 2 * perMinute; n++) {
    t.is((await world.ask({ method: 'GET', target: '/healthcheck' })).status, 200);
  }
  await world.rest();
});
