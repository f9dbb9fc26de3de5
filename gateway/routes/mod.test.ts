import test from 'ava';
import { defaultAccountSettings } from '../../actors/settings.ts';
import { systemClock } from '../../runtime/clock.ts';
import { systemRandom } from '../../runtime/random.ts';
import { createReadiness } from '../../runtime/readiness.ts';
import { defaultsOf } from '../../runtime/setting.ts';
import { createMemoryFileStore } from '../../test/kit/file-store.ts';
import { startGateway, testSocketTokens, testSyncTickets } from '../../test/kit/gateway.ts';
import { noProviders } from '../../test/kit/no-providers.ts';
import { keyedTools } from '../../test/kit/provided.ts';
import { createRateLimiter } from '../admission/rate-limit.ts';
import { wrongTokens } from '../dav/program.ts';
import { gatewaySettings } from '../settings.ts';
import { allRoutes } from './mod.ts';

const routes = allRoutes({
  readiness: createReadiness({}, systemClock),
  filesServerUrl: 'http://files.test',
  captchaUiUrl: null,
  signInFailed: undefined,
  pairedForOperator: () => {},
  administrationPage: true,
  version: '1.2.3',
  settings: defaultAccountSettings,
  refreshLimiter: createRateLimiter({ publicPerMinute: 0, sessionPerMinute: 0 }, systemClock),
  cookies: { sameSite: 'Lax', secure: false, partitioned: false, domain: '' },
  ...keyedTools,
  socketTokens: testSocketTokens(systemClock),
  syncTickets: testSyncTickets,
  syncLane: defaultsOf(gatewaySettings).syncLane,
  calendar: {
    basePath: '/dav',
    publicUrl: undefined,
    failures: createRateLimiter({ publicPerMinute: 0, sessionPerMinute: 0 }, systemClock, [wrongTokens]),
  },
  ...noProviders,
  files: {
    store: createMemoryFileStore(),
    clock: systemClock,
    random: systemRandom,
  },
});

/** Whether the schema of an operation's answer allows fields that it does not name. */
// biome-ignore lint/suspicious/noExplicitAny: a JSON document
const allowsMore = (operation: any): boolean =>
  operation.responses['200'].content['application/json'].schema.additionalProperties !== false;

test('the description of all routes is served, and names every one of them', async (t) => {
  const { url } = await startGateway(t, routes);
  const document = (await (await fetch(`${url}/v1/openapi.json`)).json()) as {
    paths: Record<string, Record<string, unknown>>;
  };
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    t.truthy(document.paths[path]?.[route.method.toLowerCase()], `${route.method} ${route.path}`);
  }
  t.true(allowsMore(document.paths['/v1/openapi.json']?.['get']));
});

test('the description tells what items a sync takes and both shapes it answers in', async (t) => {
  const { url } = await startGateway(t, routes);
  // biome-ignore lint/suspicious/noExplicitAny: a JSON document
  const document = (await (await fetch(`${url}/v1/openapi.json`)).json()) as any;
  const { requestBody, responses } = document.paths['/v1/items'].post;
  const { items } = requestBody.content['application/json'].schema.properties;
  t.like(items.anyOf[0], { type: 'array', items: { type: 'object' } });
  const { data } = responses['200'].content['application/json'].schema.properties;
  t.deepEqual(
    data.anyOf.map(({ properties }: { properties: object }) => [
      'conflicts' in properties,
      'unsaved' in properties,
    ]),
    [
      [true, false],
      [false, true],
    ],
  );
});

test('only a session opens the way to a large body', (t) => {
  for (const { access, bodyLimit, path } of routes) if (access !== 'session') t.not(bodyLimit, 'large', path);
});

test('every route says what it does, and every header it reads is in lower case', (t) => {
  for (const { path, summary, tag, headers = [] } of routes) {
    t.regex(summary, /^[A-Z].*\.$/, path);
    t.not(tag, '', path);
    for (const name of headers) t.is(name, name.toLowerCase(), path);
  }
});
