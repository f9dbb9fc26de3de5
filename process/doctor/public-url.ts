/** Whether clients reach the server at `PUBLIC_URL`: the certificate, the proxy's paths, and sockets through it. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { probeHeader } from '../../gateway/admission/proxy-probe.ts';
import { type Finding, ok, problem, warning } from './finding.ts';
import { checkProxy } from './proxy.ts';

const timeoutMs = 10_000;
const dayMs = 86_400_000;
/** Authorities that renew by themselves do so 30 days ahead: less means that renewing has failed for a while. */
const certificateDaysMin = 14;

interface UrlAnswer {
  readonly status: number;
  readonly certificateEndMs: number | undefined;
  /** The server's answer to the doctor's question. */
  readonly probe: string | undefined;
}

const socketHandshake = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'c2NyaXB0b3JpdW0gZG9jdA==',
};

/** One finding if there is no answer. `question` is undefined if the doctor does not know the root secret. */
export async function checkPublicUrl(
  publicUrl: string,
  nowMs: number,
  question: string | undefined,
): Promise<readonly Finding[]> {
  try {
    const health = await answerOf(new URL('/healthcheck', publicUrl), {
      ...(question !== undefined && { [probeHeader]: question }),
    });
    const upgrade = await answerOf(new URL('/sockets', publicUrl), socketHandshake);
    return [
      checkHealth(health),
      ...checkCertificate(health, nowMs),
      checkSockets(upgrade),
      ...(health.status === 200 ? checkProxy(publicUrl, question, health.probe) : []),
    ];
  } catch (error) {
    return [
      problem(
        'public address',
        `Nobody answers at PUBLIC_URL: ${(error as Error).message}.`,
        'Start the server and the proxy, and check DNS, the firewall and the certificate.',
      ),
    ];
  }
}

function answerOf(url: URL, headers: Readonly<Record<string, string>>): Promise<UrlAnswer> {
  const ask = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request = ask(url, { headers, timeout: timeoutMs, agent: false });
    const answered = (response: IncomingMessage) => {
      const certificate = (response.socket as Partial<TLSSocket>).getPeerCertificate?.();
      resolve({
        status: response.statusCode ?? 0,
        certificateEndMs: certificate?.valid_to === undefined ? undefined : Date.parse(certificate.valid_to),
        probe: response.headers[probeHeader]?.toString(),
      });
      request.destroy();
    };
    request.once('response', answered);
    request.once('upgrade', answered);
    request.once('timeout', () => request.destroy(new Error(`no answer within ${timeoutMs / 1_000} s`)));
    request.once('error', reject);
    request.end();
  });
}

function checkHealth({ status }: UrlAnswer): Finding {
  const check = 'public address';
  if (status === 200) return ok(check, 'The server answers there.');
  return problem(
    check,
    `/healthcheck is answered ${status} there, and by the server 200.`,
    'Have the proxy pass all paths to the server, unchanged.',
  );
}

export function checkCertificate(
  { certificateEndMs }: Pick<UrlAnswer, 'certificateEndMs'>,
  nowMs: number,
): readonly Finding[] {
  if (certificateEndMs === undefined) return [];
  const check = 'certificate';
  const days = Math.floor((certificateEndMs - nowMs) / dayMs);
  const found = `It is good for ${days} more days.`;
  if (days >= certificateDaysMin) return [ok(check, found)];
  return [warning(check, found, 'Find out why it has not been renewed.')];
}

/** The server refuses a handshake without a token by 401. A request whose `Upgrade` a proxy dropped gets another answer. */
function checkSockets({ status }: UrlAnswer): Finding {
  const check = 'sockets';
  if (status === 401) return ok(check, 'The proxy passes them.');
  return problem(
    check,
    `A WebSocket handshake is answered ${status} there, and by the server 401: clients hear of changes late.`,
    'Have the proxy pass the headers Connection and Upgrade: docs/operations.md, "In front of it".',
  );
}
