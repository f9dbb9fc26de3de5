/**
 * Tells the operator's `doctor` how a request of its own arrived through the proxy. Nobody else is answered: the question
 * carries a MAC under a key that is derived from the root secret, and is good for a minute. The answer names no address.
 *
 *     question: <expiry, milliseconds, base 36>.<nonce>.<mac>
 *     answer:   <forwarded>;<protocol>;<host>
 */
import { createHmac } from 'node:crypto';
import { equalInConstantTime } from '../../actors/identity/session-tokens.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { type ClientAddress, normalize } from './client-address.ts';

/** The header of the question and of the answer. */
export const probeHeader = 'x-scriptorium-probe';
/** The purpose of the key. */
export const probeKeyPurpose = 'proxy-probe';

const forwardings = ['absent', 'ignored', 'believed'] as const;
const protocols = ['absent', 'ignored', 'other', 'https'] as const;

export interface ProxyView {
  /** What became of `X-Forwarded-For`. `ignored`: `TRUST_PROXY` does not trust the proxy. */
  readonly forwarded: (typeof forwardings)[number];
  /** What `X-Forwarded-Proto` says. It is ignored for the same reason. */
  readonly protocol: (typeof protocols)[number];
  readonly host: string;
}

/** A request as it arrived. A header that is absent is empty. */
interface ProbedRequest {
  /** The client's address by the rule of `TRUST_PROXY`. */
  readonly address: string;
  readonly forwardedFor: string;
  readonly forwardedProto: string;
  readonly host: string;
}

export interface ProxyProbe {
  /** Undefined: the question is malformed, too old, or not a doctor's. */
  answer(question: string, request: ProbedRequest): string | undefined;
}

const questionLifeMs = 60_000;
const nonceBytes = 12;
const questionPattern = /^(([0-9a-z]{1,10})\.[\w-]{16})\.([\w-]{43})$/;

const macOf = (key: Buffer, signed: string) => createHmac('sha256', key).update(signed).digest('base64url');

export function probeQuestion(key: Buffer, nowMs: number, random: Pick<Random, 'bytes'>): string {
  const expiry = Math.ceil(nowMs + questionLifeMs).toString(36);
  const signed = `${expiry}.${random.bytes(nonceBytes).toString('base64url')}`;
  return `${signed}.${macOf(key, signed)}`;
}

export function createProxyProbe(
  key: Buffer,
  clock: Pick<Clock, 'nowMs'>,
  clientAddress: Pick<ClientAddress, 'isProxy'>,
): ProxyProbe {
  return {
    answer(question, request) {
      const match = questionPattern.exec(question);
      if (match === null) return undefined;
      const [, signed = '', expiry = '', mac = ''] = match;
      if (!equalInConstantTime(mac, macOf(key, signed))) return undefined;
      if (Number.parseInt(expiry, 36) < clock.nowMs()) return undefined;
      const forwarded = forwardingOf(request, clientAddress);
      // Without `X-Forwarded-For` the address is the proxy's.
      const isTrusted = forwarded === 'believed' || clientAddress.isProxy(request.address);
      return [forwarded, protocolOf(request.forwardedProto, isTrusted), request.host].join(';');
    },
  };
}

/** Undefined if it is no answer. */
export function readProbeAnswer(text: string): ProxyView | undefined {
  const [forwardedText, protocolText, host = ''] = text.split(';');
  const forwarded = forwardings.find((name) => name === forwardedText);
  const protocol = protocols.find((name) => name === protocolText);
  return forwarded === undefined || protocol === undefined ? undefined : { forwarded, protocol, host };
}

/**
 * If the proxy is not trusted, the client's address is the proxy's, which the header does not name. Only a doctor that
 * comes from the proxy's own machine finds that address in it, too. Then loopback counts only if it is trusted.
 */
function forwardingOf(
  { address, forwardedFor }: ProbedRequest,
  { isProxy }: Pick<ClientAddress, 'isProxy'>,
): ProxyView['forwarded'] {
  if (forwardedFor === '') return 'absent';
  if (isProxy(address)) return 'believed';
  return namesAddress(forwardedFor, address) && !isLoopback(address) ? 'believed' : 'ignored';
}

const namesAddress = (forwardedFor: string, address: string) =>
  forwardedFor.split(',').some((hop) => normalize(hop) === address);

const isLoopback = (address: string) => address.startsWith('127.') || address === '::1';

function protocolOf(forwardedProto: string, isTrusted: boolean): ProxyView['protocol'] {
  const protocol = forwardedProto.trim().toLowerCase();
  if (protocol === '') return 'absent';
  if (!isTrusted) return 'ignored';
  return protocol === 'https' ? 'https' : 'other';
}
