/**
 * Checks whether the server believes what the proxy in front of it reports about clients. The doctor sends a request through the
 * proxy, and the server answers with what it saw (`gateway/admission/proxy-probe.ts`).
 */
import { type ProxyView, readProbeAnswer } from '../../gateway/admission/proxy-probe.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const inFront = 'docs/operations.md, "In front of it"';
const addresses = 'addresses of clients';
const trustProxy = 'Put the address from which the proxy connects into TRUST_PROXY, on all nodes.';
const sendProtocol = `Have the proxy send X-Forwarded-Proto: https. See ${inFront}.`;

/** `question` is the header that the doctor sent, and `answer` the header that the server replied with. */
export function checkProxy(
  publicUrl: string,
  question: string | undefined,
  answer: string | undefined,
): readonly Finding[] {
  if (question === undefined) {
    return [
      warning(
        'proxy',
        'What the server sees of clients is unknown: the doctor cannot read the secret key.',
        'Run the doctor as the user of the server, with its SECRET_KEY or DATA_DIR.',
      ),
    ];
  }
  const view = readProbeAnswer(answer ?? '');
  if (view === undefined) {
    return [
      warning(
        'proxy',
        'What the server sees of clients is unknown: it did not recognise the doctor.',
        'Run the doctor of the same release with the settings of the server, set its clock, and have the proxy pass all headers.',
      ),
    ];
  }
  const { protocol, host } = new URL(publicUrl);
  const isHttps = protocol === 'https:';
  return [checkAddresses(view, isHttps), ...(isHttps ? [checkProtocol(view)] : []), checkHost(view, host)];
}

function checkAddresses({ forwarded }: ProxyView, isHttps: boolean): Finding {
  if (forwarded === 'believed') return ok(addresses, 'The server learns them from the proxy.');
  if (forwarded === 'ignored') {
    return problem(
      addresses,
      'TRUST_PROXY does not trust the proxy: all clients count as one, and share one rate limit.',
      trustProxy,
    );
  }
  if (!isHttps) return ok(addresses, 'No proxy reports them, which is right only if there is none.');
  return problem(
    addresses,
    'The proxy sends no X-Forwarded-For: all clients count as one, and share one rate limit.',
    `Have the proxy send it: ${inFront}.`,
  );
}

function checkProtocol({ protocol }: ProxyView): Finding {
  const check = 'protocol';
  switch (protocol) {
    case 'https':
      return ok(check, 'The server learns that clients use https.');
    case 'ignored':
      return warning(check, 'It is taken for http: TRUST_PROXY does not trust the proxy.', trustProxy);
    case 'absent':
      return warning(check, 'It is taken for http: the proxy sends no X-Forwarded-Proto.', sendProtocol);
    case 'other':
      return warning(
        check,
        'It is taken for http: the proxy sends another X-Forwarded-Proto than https.',
        sendProtocol,
      );
  }
}

function checkHost({ host: seen }: ProxyView, host: string): Finding {
  const check = 'host';
  if (seen.toLowerCase() === host) return ok(check, 'The proxy passes it.');
  return warning(
    check,
    'The proxy replaces Host: pages of the server itself count as those of another site.',
    `Have the proxy pass Host unchanged: ${inFront}.`,
  );
}
