/**
 * The envelope around every answer of an endpoint (docs/protocol/http.md, "The envelope"). It joins text around the
 * inner body, so that the body is serialised once, or not at all if it is JSON text already.
 */
import type { Caller } from '../../actors/reply.ts';

export type Envelope = (innerJson: string, caller?: Caller) => string;

/** Clients store `filesServerUrl` as their files host, so every enveloped answer contains it. */
export function createEnvelope(filesServerUrl: string): Envelope {
  const afterAuth = `,"server":{"filesServerUrl":${JSON.stringify(filesServerUrl)}}},"data":`;
  const anonymous = `{"meta":{"auth":{}${afterAuth}`;
  // Roles come as one of a few arrays that never change, so the text of each is made once.
  const rolesTexts = new WeakMap<object, string>();

  function rolesText(caller: Caller): string {
    const known = rolesTexts.get(caller.roles);
    if (known !== undefined) return known;
    const text = `,"roles":${JSON.stringify(caller.roles)}}${afterAuth}`;
    rolesTexts.set(caller.roles, text);
    return text;
  }

  return (innerJson, caller) => {
    if (caller === undefined) return `${anonymous}${innerJson}}`;
    return `{"meta":{"auth":{"userUuid":${JSON.stringify(caller.userUuid)}${rolesText(caller)}${innerJson}}`;
  };
}
