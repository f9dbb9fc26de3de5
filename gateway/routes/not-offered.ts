/**
 * The requests that clients send when they open a pane for a feature that this server does not have
 * (docs/protocol/not-offered.md). Requests that read get the answer of a server with the feature off. Requests that
 * act get a refusal in words, so that no pane shows an error.
 */
import { z } from 'zod';
import { NotOffered } from '../../actors/user/not-offered/contract.ts';
import type { AnyRoute } from '../http/route.ts';
import { family, type RouteName } from './endpoint.ts';

const { endpoint, route } = family({ tag: 'Known and not offered' });

type Audience = 'anybody' | 'users' | 'administrators';

/** Each with its answer. */
const readings: readonly (readonly [path: string, audience: Audience, body: object])[] = [
  ['/v1/webhooks', 'users', { webhooks: [] }],
  ['/v1/admin/roles', 'administrators', { roleNames: [] }],
  ['/v1/admin/groups', 'administrators', { groups: [] }],
  ['/v1/admin/groups/:groupUuid/members', 'administrators', { members: [] }],
  ['/v1/admin/users/:userUuid/effective-permissions', 'administrators', { permissions: [] }],
  ['/v1/assistant/transcription/models', 'anybody', { models: [] }],
  ['/v1/ocr/config', 'users', { enabled: false }],
  ['/v2/subscriptions', 'anybody', {}],
];

const actions: readonly (readonly [name: RouteName, audience: Exclude<Audience, 'anybody'>])[] = [
  ['POST /v1/webhooks', 'users'],
  ['GET /v1/webhooks/:id', 'users'],
  ['PUT /v1/webhooks/:id', 'users'],
  ['PATCH /v1/webhooks/:id', 'users'],
  ['DELETE /v1/webhooks/:id', 'users'],
  ['POST /v1/admin/groups', 'administrators'],
  ['PUT /v1/admin/groups/:groupUuid', 'administrators'],
  ['DELETE /v1/admin/groups/:groupUuid', 'administrators'],
  ['POST /v1/admin/groups/:groupUuid/members', 'administrators'],
  ['DELETE /v1/admin/groups/:groupUuid/members/:userUuid', 'administrators'],
  ['POST /v1/web/search', 'users'],
  ['POST /v1/web/fetch', 'users'],
  ['POST /v1/collaboration/authorize', 'users'],
];

const nothing = z.object({});

function reading(path: string, audience: Audience, body: object): AnyRoute {
  const name = `GET ${path}` as const;
  const declared = {
    summary: 'Says that there is nothing of a feature that this server does not offer.',
    replies: { 200: z.looseObject({}) },
  } as const;
  const reply = () => ({ status: 200, body });
  if (audience === 'anybody')
    return route(name, {
      ...declared,
      access: 'public',
      safe: true,
      request: nothing,
      handle: async () => reply(),
    });
  const { showNothing, showAdministratorsNothing } = NotOffered.commands;
  const command = audience === 'users' ? showNothing : showAdministratorsNothing;
  return endpoint(name, { ...declared, command, replyOf: reply, refusals: [403] });
}

export const notOfferedRoutes: readonly AnyRoute[] = [
  ...readings.map((each) => reading(...each)),
  ...actions.map(([name, audience]) =>
    endpoint(name, {
      command:
        audience === 'users' ? NotOffered.commands.doNothing : NotOffered.commands.doNothingForAdministrators,
      summary: 'Refuses what needs a feature that this server does not offer.',
      refusals: [404],
    }),
  ),
];
