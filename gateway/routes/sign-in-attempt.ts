/**
 * An attempt to sign in, by whichever endpoint: the parts of the request that say where it comes from, and the report
 * of its failure.
 */
import { type Answer, isRefused } from '../../actors/reply.ts';
import { cookieSessionsMax } from '../../actors/signin/contract.ts';
import { accessCookiePrefix } from '../http/cookies.ts';
import type { RequestContext } from '../http/route.ts';
import type { RoutesOptions } from './options.ts';

type AttemptSender = Pick<RequestContext<'public'>, 'client' | 'cookies'>;

const uuidCharacters = 36;

/** Identifies a network or a device. */
export function senderOf({ client, cookies }: AttemptSender) {
  const names = [...cookies.keys()].filter((name) => name.startsWith(accessCookiePrefix));
  // The sessions named by the request's cookies, ended or not. The newest come last.
  const cookieSessions = names
    .map((name) => name.slice(accessCookiePrefix.length))
    .filter((uuid) => uuid.length === uuidCharacters)
    .slice(-cookieSessionsMax);
  return { device: client, cookieSessions };
}

/** Passes the reply on. A refusal because the request lacks something was no attempt. */
export function reportFailedSignIn<Ok>(
  reply: Answer<Ok>,
  { client }: AttemptSender,
  { signInFailed }: Pick<RoutesOptions, 'signInFailed'>,
): Answer<Ok> {
  const isFailure = isRefused(reply) && reply.refused.captchaRequired !== undefined;
  if (isFailure && client.ipAddress !== null) signInFailed?.(client.ipAddress);
  return reply;
}
