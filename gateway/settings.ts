/** Settings of the gateway. Sizes in bytes, times in milliseconds. */
import {
  address,
  apiAddress,
  bytes,
  type Complete,
  choice,
  choices,
  fixed,
  flag,
  integer,
  list,
  mebibyte,
  mebibytes,
  type SettingsOf,
  sameOnAllNodes,
  secret,
  section,
  setting,
  text,
  WrongValue,
  wholeNumber,
} from '../runtime/setting.ts';
import { createClientAddress } from './admission/client-address.ts';
import type { MinimumThroughput } from './http/minimum-throughput.ts';

const kibibyte = 1_024;

/** Those without a default depend on the address under which clients reach the server. */
export const cookieSettings = sameOnAllNodes(
  section('Browsers', {
    sameSite: choice(['None', 'Lax', 'Strict'], {
      name: 'COOKIE_SAME_SITE',
      defaultText: '`None` if `PUBLIC_URL` is https or loopback, else `Lax`',
      description: 'The `SameSite` attribute of the session cookies. `None` needs `COOKIE_SECURE`.',
    }),
    secure: flag({
      name: 'COOKIE_SECURE',
      defaultText: 'whether `PUBLIC_URL` is https or loopback',
      description:
        'The `Secure` attribute: browsers send the cookies over https alone, and to loopback. Safari does not send them to loopback over http: set it to `false` there.',
    }),
    partitioned: flag({
      name: 'COOKIE_PARTITIONED',
      defaultText: 'whether `PUBLIC_URL` is https or loopback',
      description: 'The `Partitioned` attribute. Needs `COOKIE_SECURE`.',
    }),
    /** Empty for cookies of this host only. */
    domain: text({
      name: 'COOKIE_DOMAIN',
      pattern: /^[\w.-]*$/,
      form: 'a domain',
      default: '',
      defaultText: 'this host only',
      description: 'The `Domain` attribute of the session cookies.',
    }),
  }),
);
export interface CookieOptions extends Complete<SettingsOf<typeof cookieSettings>> {}

const browsers = sameOnAllNodes(
  section('Browsers', {
    hstsSeconds: integer({
      name: 'HSTS_SECONDS',
      unit: 's',
      min: 0,
      default: 31_536_000,
      description:
        'How long browsers that came over https are to use nothing else (`Strict-Transport-Security`). 0 sends no such header.',
    }),
    cors: {
      strict: flag({
        name: 'CORS_ORIGIN_STRICT_MODE_ENABLED',
        default: false,
        description:
          'Lets only the origins of `CORS_ALLOWED_ORIGINS`, desktop and extension apps and localhost read answers.',
      }),
      allowedOrigins: list({
        name: 'CORS_ALLOWED_ORIGINS',
        default: '',
        description: 'Origins, separated by commas, for the strict mode. An empty list allows every origin.',
      }),
    },
  }),
);

export const accessKeySettings = sameOnAllNodes(
  section('Access and limits', {
    // A mistyped mode must not open the gate, so every unknown value means the strictest mode.
    mode: setting((text) => (text === 'registration' || text === 'off' ? text : 'all'), {
      name: 'SHARED_SERVER_ACCESS_KEY_MODE',
      bounds: '`all`, `registration` or `off`',
      default: 'all',
      description: 'What the access key guards. Anything else counts as `all`.',
    }),
    exempt: choices(['sockets', 'shares', 'assistant', 'codehost', 'dav', 'callback'], {
      name: 'SHARED_SERVER_ACCESS_KEY_EXEMPT',
      default: '',
      defaultText: 'none: health checks alone need no key',
      description:
        'The areas that need no access key in mode `all`, separated by commas. `sockets`: browsers cannot send the key when they open one, and clients needed the key for its token. Without this, web clients learn of changes by polling. `shares`: the reader of a public share has only its link; the page at `/` needs no key then either. `assistant` and `codehost`: web clients call these without the key, in a session that needed it. `dav`: calendar programs cannot send the key, and the token that each sends needed it. `callback`: the provider of a pairing sends a browser back, with a state that needed the key.',
    }),
  }),
);
export const accessKeySecrets = secret(
  sameOnAllNodes(
    section('Access and limits', {
      accessKey: text({
        name: 'SHARED_SERVER_ACCESS_KEY',
        description: 'A key that requests have to carry in the header `X-Shared-Server-Key`.',
      }),
    }),
  ),
);

const limits = section('Access and limits', {
  trustProxy: setting(trustRule, {
    name: 'TRUST_PROXY',
    default: 'loopback',
    description:
      'Proxies whose `X-Forwarded-For` is believed, all its lines as one list: `true`, `false`, or addresses, CIDR ranges and the names `loopback`, `linklocal`, `uniquelocal`.',
  }),
  /** A household or an office behind one address never comes near these limits. */
  rateLimits: {
    publicPerMinute: integer({
      name: 'RATE_LIMIT_PUBLIC',
      unit: 'requests/min',
      min: 0,
      default: 1_200,
      description:
        'Requests of one address to routes that need no session, or without the session a route needs. 0 is no limit.',
    }),
    sessionPerMinute: integer({
      name: 'RATE_LIMIT_SESSION',
      unit: 'requests/min',
      min: 0,
      default: 60_000,
      description:
        'Requests of one account, by all its devices, to routes that need a session. 0 is no limit.',
    }),
  },
  ...sameOnAllNodes({
    largeBodyBytes: mebibytes({
      name: 'HTTP_REQUEST_PAYLOAD_LIMIT_MEGABYTES',
      min: 1,
      max: 1_024,
      default: 50,
      description: 'The largest body of a sync. Requests without a session have 64 KiB.',
    }),
  }),
  smallBodyBytes: fixed(64 * kibibyte),
  /** The memory for unfinished bodies. */
  bodyMemoryBytes: bytes({
    name: 'BODY_MEMORY_BYTES',
    min: mebibyte,
    default: 256 * mebibyte,
    description:
      'What unfinished bodies may take of the memory of the process. More get 503. One user takes no more than a quarter, or the largest body of a sync and 8 MiB. Uploads of files wait instead: those of one user while they hold a 32nd, all of them while they hold an eighth.',
  }),
  replyMemoryBytes: bytes({
    name: 'REPLY_MEMORY_BYTES',
    min: mebibyte,
    default: 128 * mebibyte,
    description:
      'What replies may take of the memory of the process until their readers take them. Beyond it the reader that kept still the longest loses its connection.',
  }),
  userReplyMemoryBytes: bytes({
    name: 'REPLY_MEMORY_BYTES_PER_USER',
    min: mebibyte,
    default: 32 * mebibyte,
    description:
      'The same for the replies of one account, or without a session of one network. All networks together have half of `REPLY_MEMORY_BYTES`. A single reply may be larger.',
  }),
  /** At least enough for one network to open the largest share. */
  shareMemoryBytes: bytes({
    name: 'SHARE_MEMORY_BYTES',
    min: 32 * mebibyte,
    default: 128 * mebibyte,
    description:
      'What public shares may take of the memory of the process while they are opened, until their readers have taken them. Beyond it openings wait a moment and get 503, and use nothing up. One network takes no more than a quarter of what it leaves free.',
  }),
  /** A body that is not complete this long after its head is refused. */
  bodyTimeoutMs: fixed(60_000),
  /** The minimum throughput of a client for which the server waits. */
  minimumThroughput: setting(minimumThroughputOf, {
    name: 'LEAST_PACE',
    unit: 'bytes/min',
    bounds: 'at least 0',
    default: 32 * kibibyte,
    description:
      'What a client has to take of a reply, or bring of a streamed body, in each minute it is waited for. The default is about 500 bytes a second, what the worst of mobile networks carries.',
  }),
  /** The time for a handler and its asks. Clients give up after 30 s. */
  requestDeadlineMs: fixed(25_000),
  connectionsMax: integer({
    name: 'CONNECTIONS_MAX',
    unit: 'connections',
    min: 1,
    default: 60_000,
    description:
      'Open connections of clients to this process, sockets included. More are closed at once. While more than half are open, one network may open a quarter of them within 16 s, and each ends with its answer. Proxies in `TRUST_PROXY` are exempt. Never more than its limit of open files (`ulimit -n`) less 256.',
  }),
  syncLane: {
    isEnabled: flag({
      name: 'SYNC_LANE_ENABLED',
      default: true,
      description:
        'Whether clients may sync over `/sockets/sync`. Without it they sync over HTTP, and lose nothing.',
    }),
    origins: setting(originsOf, {
      name: 'SYNC_LANE_ORIGINS',
      bounds: 'origins such as `https://app.example.org`, separated by commas',
      default: '',
      defaultText: 'none',
      description:
        'The origins whose pages may open the sync lane, besides that of the server itself: scheme, host and port, exactly. Desktop apps have origins such as `tauri://localhost`.',
    }),
    sameOrigin: flag({
      name: 'SYNC_LANE_SAME_ORIGIN',
      default: true,
      description:
        'Whether pages that the server’s own address serves may open the sync lane. Behind a proxy that ends https this needs `X-Forwarded-Proto` of a proxy in `TRUST_PROXY`.',
    }),
    /** A client has one for each browser profile, not for each tab. */
    socketsPerUserMax: integer({
      name: 'SYNC_LANE_SOCKETS_PER_USER',
      unit: 'sockets',
      min: 1,
      max: 1_000,
      default: 16,
      description:
        'Open sockets of the sync lane of one account in this process; each process counts for itself. A client has one in each browser. So 16 are enough for twice the devices of a person, as a dead socket counts for a while beside its replacement. Those of more sync over HTTP.',
    }),
    memoryBytes: bytes({
      name: 'SYNC_LANE_MEMORY_BYTES',
      min: 8 * mebibyte,
      default: 64 * mebibyte,
      description:
        'The memory of the process for the sync lane: waiting commands, and answers that clients have not read. One account takes at most a quarter of the free memory. Sockets that need more are closed, and their clients go on over HTTP.',
    }),
    /**
     * The library pings sixteen seconds before the end. Clients send `PING` every half a minute, and every minute from a tab in the
     * background. So only a socket that is silent for longer needs a ping.
     */
    idleSeconds: fixed(120),
  },
  sockets: {
    /** Sockets that are being opened included. */
    socketsMax: integer({
      name: 'SOCKETS_MAX',
      unit: 'sockets',
      min: 0,
      default: 50_000,
      description:
        'Open sockets of this process. More are refused, and their clients poll. Each is one of `CONNECTIONS_MAX` too.',
    }),
    socketsPerUserMax: fixed(100),
    /**
     * The most memberships of all users with sockets; each takes a few hundred bytes. A client beyond the limit
     * polls.
     */
    membershipsMax: fixed(200_000),
    /**
     * The library pings sixteen seconds before the end, and counts in steps of four. Many proxies end a connection that
     * was silent for a minute, and each ping costs as much as a small request.
     */
    idleSeconds: fixed(68),
  },
});

export const codeHostSettings = sameOnAllNodes(
  section('Code host', {
    codeHostApiUrl: apiAddress({
      name: 'CODE_HOST_API_URL',
      default: 'https://api.github.com',
      description:
        'Where notes are published with a token of their user: the interface of GitHub, or of a Gitea or Forgejo, which ends in `/api/v1`.',
    }),
  }),
);

const links = sameOnAllNodes(
  section('Server', {
    filesServerUrl: address({
      name: 'FILES_SERVER_URL',
      defaultText: '`PUBLIC_URL`',
      description:
        'The address of the files server, sent to clients with every answer. Clients add `/v1/files` to it, which every proxy for this server passes on.',
    }),
    administrationPage: flag({
      name: 'ADMINISTRATION_PAGE',
      default: false,
      description:
        'Serves the page for administrators at `/admin` (docs/administration.md). It needs no access key; signing in does.',
    }),
  }),
);

/** A path without any route of clients, whatever the operator chooses. */
const reservedPaths = /^\/(v1|v2|auth|files|sockets|subscription|health|healthcheck|robots\.txt)(\/|$)/;
/** The paths below it are four segments longer, and the router takes 16. */
const davPath = /^(\/(?!\.{1,2}(\/|$))[\w.~-]+){1,12}$/;

const calendar = sameOnAllNodes(
  section('Calendar', {
    calendar: {
      basePath: setting(davPathOf, {
        name: 'CALDAV_BASE_PATH',
        default: '/dav',
        bounds: 'a path without a trailing slash',
        description:
          'Where calendar programs find the to-dos. A proxy in front has to pass it on, with the methods PROPFIND and REPORT.',
      }),
      dataPath: text({
        name: 'CALDAV_DATA_PATH',
        default: '',
        description: 'Without effect: published calendars are in the database, which all nodes share.',
      }),
    },
  }),
);

const originPattern = /^(https?|tauri):\/\/[a-z0-9.-]+(:\d{1,5})?$/;

function originsOf(text: string): readonly string[] {
  const origins = text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
  const wrong = origins.find((each) => !originPattern.test(each));
  if (wrong !== undefined) throw new WrongValue(`has "${wrong}", which is no origin`);
  return origins;
}

function davPathOf(text: string): string {
  if (!davPath.test(text) || reservedPaths.test(text)) throw new WrongValue('is no path that is free');
  return text;
}

export const gatewaySettings = { ...links, ...browsers, ...limits, ...calendar };
export interface GatewaySettings extends Complete<SettingsOf<typeof gatewaySettings>> {}

function minimumThroughputOf(text: string): MinimumThroughput {
  return { bytes: wholeNumber(text, { min: 0 }), windowMs: 60_000 };
}

function trustRule(text: string): string {
  try {
    createClientAddress(text);
  } catch {
    throw new WrongValue('is no list of addresses, ranges and names');
  }
  return text;
}
