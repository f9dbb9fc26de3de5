/**
 * Outbound HTTP (`http.ts`) over node's own client.
 *
 * A name is resolved once for each connection, and each of its addresses is checked. The connection goes to these addresses
 * alone. So a name that later resolves differently gains nothing. No connection is used twice.
 *
 * Names that the operator has not fixed are looked up at the name servers directly. The system's resolver would block a thread
 * of the pool while a slow name server answers. Password hashes need these threads.
 */
import { lookup, Resolver } from 'node:dns/promises';
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { type RequestOptions, request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { type Clock, unlessAborted } from '../../runtime/clock.ts';
import { OverloadedError } from '../../runtime/errors.ts';
import { createQueue } from '../queue.ts';
import {
  type Destination,
  type OutboundAnswer,
  OutboundError,
  type OutboundFailure,
  type OutboundHttp,
  type OutboundRequest,
  type OutboundStream,
  type OutboundStreamRequest,
  type OutboundStreams,
} from './http.ts';
import { isPublicAddress } from './public-address.ts';

/** Resolves a name to all of its addresses. */
type Resolve = (host: string) => Promise<readonly string[]>;

export interface OutboundHttpOptions {
  readonly clock: Clock;
  readonly resolve?: Readonly<Record<Destination, Resolve>>;
  /** Requests at once for each kind of destination, so that those of users take no room from the operator's. */
  readonly concurrent?: number;
  readonly waiting?: number;
  /** The check of a destination that the operator has not fixed. */
  readonly isPublic?: (address: string) => boolean;
  /** Certificates to trust instead of the well-known ones. */
  readonly ca?: string;
}

const nameServerTimeoutMs = 2_000;

const systemResolve: Readonly<Record<Destination, Resolve>> = {
  fixed: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  async checked(host) {
    const resolver = new Resolver({ timeout: nameServerTimeoutMs, tries: 2 });
    const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    return found.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  },
};

/** Headers of the connection, which callers may not set. */
const ownHeaders =
  /^(host|connection|keep-alive|upgrade|te|trailer|expect|content-length|transfer-encoding|accept-encoding|proxy-.*)$/i;

/** One request to one server; redirects make several of one call. */
interface Hop {
  readonly url: URL;
  readonly destination: Destination;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

/** The progress of one call. */
interface OutboundCall {
  readonly signal: AbortSignal;
  /** A server was connected to. */
  hasConnected: boolean;
}

interface RunningRequest {
  readonly call: OutboundCall;
  /** Cancels the time-out. */
  readonly cancel: () => void;
  readonly timeOut: () => void;
}

class FailedCall extends Error {
  readonly failure: OutboundFailure;

  constructor(failure: OutboundFailure) {
    super(failure);
    this.failure = failure;
  }
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the events of one request share its state.
export function createOutboundHttp(options: OutboundHttpOptions): OutboundHttp & OutboundStreams {
  const { clock, concurrent = 32, waiting = 256 } = options;
  const { resolve = systemResolve, isPublic = isPublicAddress, ca } = options;
  const newQueue = () => createQueue({ concurrent, waiting }, 'too many outbound requests');
  const inTurn = { fixed: newQueue(), checked: newQueue() };

  return {
    async send(request) {
      const { call, cancel } = begin(request);
      try {
        return await inTurn[request.destination](() => followRedirects(request, call), call.signal);
      } catch (error) {
        throw new OutboundError(failureOf(error, call), call.hasConnected);
      } finally {
        cancel();
      }
    },
    async open(request) {
      const begun = begin(request);
      // A caller that needs only the head leaves the rest unread.
      begun.call.signal.addEventListener('abort', begun.cancel, { once: true });
      try {
        return await openStream(request, begun);
      } catch (error) {
        begun.cancel();
        throw new OutboundError(failureOf(error, begun.call), begun.call.hasConnected);
      }
    },
  };

  function begin({ timeoutMs, signal }: Pick<OutboundRequest, 'timeoutMs' | 'signal'>): RunningRequest {
    const deadline = new AbortController();
    const timeOut = () => deadline.abort(new FailedCall('timeout'));
    const signals = signal === undefined ? [] : [signal];
    const call = { signal: AbortSignal.any([deadline.signal, ...signals]), hasConnected: false };
    const stop = clock.schedule(timeoutMs, timeOut);
    const cancel = () => {
      stop();
      call.signal.removeEventListener('abort', cancel);
    };
    return { call, cancel, timeOut };
  }

  async function openStream(request: OutboundStreamRequest, begun: RunningRequest): Promise<OutboundStream> {
    const { call } = begun;
    const hop = firstHop(request);
    const { idleTimeoutMs, answerBytesMax } = request;
    const response = await notIdle(idleTimeoutMs, begun, async () =>
      exchange(hop, await addressesOf(hop, call.signal), call),
    );
    return {
      status: response.statusCode ?? 0,
      headers: headersOf(response),
      // An answer may last long, and must not keep the request in memory.
      chunks: chunksOf(response, { idleTimeoutMs, answerBytesMax }, begun),
    };
  }

  async function* chunksOf(
    response: IncomingMessage,
    { idleTimeoutMs, answerBytesMax }: Pick<OutboundStreamRequest, 'idleTimeoutMs' | 'answerBytesMax'>,
    begun: RunningRequest,
  ): AsyncGenerator<Buffer, void, void> {
    const { call, cancel } = begun;
    let bytes = 0;
    try {
      const source = decoded(response)[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
      for (;;) {
        const { done, value } = await notIdle(idleTimeoutMs, begun, () => source.next());
        call.signal.throwIfAborted();
        if (done) return;
        bytes += value.length;
        if (bytes > answerBytesMax) throw new FailedCall('too-large');
        yield value;
      }
    } catch (error) {
      throw new OutboundError(failureOf(error, call), call.hasConnected);
    } finally {
      cancel();
      response.destroy();
    }
  }

  /** Limits the silence of the server. It counts only while the caller waits for it. */
  async function notIdle<T>(
    idleTimeoutMs: number,
    { timeOut }: RunningRequest,
    work: () => Promise<T>,
  ): Promise<T> {
    const cancel = clock.schedule(idleTimeoutMs, timeOut);
    try {
      return await work();
    } finally {
      cancel();
    }
  }

  async function followRedirects(request: OutboundRequest, call: OutboundCall): Promise<OutboundAnswer> {
    const { answerBytesMax, redirectsMax = 0 } = request;
    let hop = firstHop(request);
    for (let redirects = 0; ; redirects += 1) {
      const response = await exchange(hop, await addressesOf(hop, call.signal), call);
      const location = isRedirect(response) ? response.headers.location : undefined;
      if (redirectsMax === 0 || location === undefined)
        return answerOf(response, answerBytesMax, call.signal);
      response.destroy();
      if (redirects === redirectsMax) throw new FailedCall('redirected');
      hop = nextHop(hop, response.statusCode, location);
    }
  }

  async function addressesOf({ url, destination }: Hop, signal: AbortSignal): Promise<readonly string[]> {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const addresses = isIP(host) === 0 ? await unlessAborted(resolved(host, destination), signal) : [host];
    if (addresses.length === 0) throw new FailedCall('unresolved');
    if (destination === 'checked' && !addresses.every(isPublic)) throw new FailedCall('refused');
    return addresses;
  }

  /** Empty if the name cannot be resolved. */
  function resolved(host: string, destination: Destination): Promise<readonly string[]> {
    return resolve[destination](host).catch(() => []);
  }

  /** Resolves once the head of the answer is there. */
  function exchange(hop: Hop, addresses: readonly string[], call: OutboundCall): Promise<IncomingMessage> {
    const { url, method, headers, body } = hop;
    const options: RequestOptions = {
      method,
      headers: { ...headers, 'accept-encoding': 'gzip' },
      agent: false,
      lookup: only(addresses),
      signal: call.signal,
      ...(ca !== undefined && { ca }),
    };
    const isSecure = url.protocol === 'https:';
    const request = isSecure ? requestHttps(url, options) : requestHttp(url, options);
    const response = responseTo(request, isSecure, call);
    request.end(body);
    return response;
  }
}

/** A function of its own: its listeners live as long as the answer, and would keep an enclosing scope in memory. */
function responseTo(request: ClientRequest, isSecure: boolean, call: OutboundCall): Promise<IncomingMessage> {
  return new Promise((answered, failed) => {
    request.on('socket', (socket) =>
      socket.once(isSecure ? 'secureConnect' : 'connect', () => {
        call.hasConnected = true;
      }),
    );
    request.on('response', (response) => {
      // The reader misses nothing: the error reaches it too.
      response.on('error', () => {});
      answered(response);
    });
    request.on('error', failed);
    // The answer has no body, as after a change of protocol that was not requested.
    request.on('close', () => failed(new FailedCall('broken')));
  });
}

/** A lookup that knows these addresses and nothing else. */
function only(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  const [first = { address: '', family: 0 }] = all;
  return (_host, options, callback) => {
    if (options.all === true) callback(null, all);
    else callback(null, first.address, first.family);
  };
}

function firstHop(request: Omit<OutboundRequest, 'answerBytesMax'>): Hop {
  const { destination, url, method = 'GET', headers = {}, body } = request;
  if (Object.keys(headers).some((name) => ownHeaders.test(name))) throw new FailedCall('refused');
  return { url: parse(url), destination, method, headers, body };
}

function parse(url: string | URL, base?: URL): URL {
  if (!URL.canParse(String(url), base?.href)) throw new FailedCall('refused');
  const parsed = new URL(url, base);
  const isSent = /^https?:$/.test(parsed.protocol) && parsed.username === '' && parsed.password === '';
  if (!isSent) throw new FailedCall('refused');
  return parsed;
}

const isRedirect = ({ statusCode = 0 }: IncomingMessage): boolean =>
  [301, 302, 303, 307, 308].includes(statusCode);

function nextHop(hop: Hop, status: number | undefined, location: string): Hop {
  const url = parse(location, hop.url);
  if (hop.url.protocol === 'https:' && url.protocol === 'http:') throw new FailedCall('redirected');
  const keepsMethod = status === 307 || status === 308 || hop.method === 'HEAD';
  const method = keepsMethod ? hop.method : 'GET';
  const body = keepsMethod ? hop.body : undefined;
  if (isSameServer(hop.url, url)) return { ...hop, url, method, body };
  if (body !== undefined) throw new FailedCall('redirected');
  return { url, destination: 'checked', method, headers: {}, body: undefined };
}

/** A redirect from `http` to `https` changes the origin too. */
function isSameServer(from: URL, to: URL): boolean {
  if (from.origin === to.origin) return true;
  return from.hostname === to.hostname && from.port === '' && to.port === '' && to.protocol === 'https:';
}

async function answerOf(
  response: IncomingMessage,
  bytesMax: number,
  signal: AbortSignal,
): Promise<OutboundAnswer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of decoded(response) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new FailedCall('too-large');
    chunks.push(chunk);
  }
  signal.throwIfAborted();
  return { status: response.statusCode ?? 0, headers: headersOf(response), body: Buffer.concat(chunks) };
}

const headersOf = ({ headers }: IncomingMessage): ReadonlyMap<string, string> =>
  new Map(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')] as const));

/** Unpacks only encodings that were requested, so that the answer does not choose how it is unpacked. */
function decoded(response: IncomingMessage) {
  switch (response.headers['content-encoding']?.toLowerCase()) {
    case undefined:
    case 'identity':
      return response;
    case 'gzip':
      // An error of either stream becomes one of the last.
      return pipeline(response, createGunzip(), () => {});
    default:
      response.destroy();
      throw new FailedCall('broken');
  }
}

function failureOf(error: unknown, { signal, hasConnected }: OutboundCall): OutboundFailure {
  if (signal.aborted) return signal.reason instanceof FailedCall ? signal.reason.failure : 'aborted';
  if (error instanceof FailedCall) return error.failure;
  if (error instanceof OverloadedError) return 'overloaded';
  // Node reports this before anything is sent: a header that is not valid.
  if (error instanceof TypeError) return 'refused';
  if (hasConnected) return 'broken';
  return 'unreachable';
}
