import { choice, flag, integer, list, setting, text } from '../setting.ts';

const group = 'Cluster';

export const clusterSettings = {
  ROLE: setting({
    group,
    schema: choice(['all', 'gateway', 'host']),
    default: 'all',
    description:
      'What this process does in a cluster: `host` runs actors, `gateway` serves clients, `all` does both.',
  }),
  NATS_URL: setting({
    group,
    schema: list.refine(
      (urls) => urls.length > 0 && urls.every((url) => /^(nats|tls):\/\/\S+$/.test(url)),
      'is not a comma-separated list of nats:// or tls:// addresses',
    ),
    secret: true,
    defaultText: 'none: this process is the whole server',
    description:
      'The servers of NATS by which the processes of one cluster reach each other, all of them or a DNS name for them, separated by commas: `nats://user:password@host:port`. Needs `DATABASE_URL` and `SECRET_KEY`.',
  }),
  NATS_CREDENTIALS_FILE: setting({
    group,
    schema: text,
    description:
      'A file with NATS credentials: a user JWT with its seed, or a bare nkey seed. Read anew for each connection.',
  }),
  NATS_CA_FILE: setting({
    group,
    schema: text,
    description: 'The certificates (PEM) that vouch for the NATS servers.',
  }),
  NATS_CERT_FILE: setting({
    group,
    schema: text,
    description: 'The certificate (PEM) by which this process shows itself to the NATS servers.',
  }),
  NATS_KEY_FILE: setting({
    group,
    schema: text,
    description: 'The private key (PEM) of `NATS_CERT_FILE`.',
  }),
  NATS_REPLICAS: setting({
    group,
    schema: integer(1, 5),
    default: 1,
    description:
      'On how many NATS servers the stream of wake-ups is kept. Nothing is lost with it; 3 lets wake-ups go on while one is down.',
  }),
  CLUSTER_NAME: setting({
    group,
    schema: text.regex(/^[A-Za-z0-9_-]{1,32}$/, 'is not 1 to 32 letters, digits, dashes and underscores'),
    default: 'scriptorium',
    description:
      'The name of the cluster, fixed once a database has been used. Processes of other names on the same NATS are left alone.',
  }),
};

const internalGroup = 'Internal API';

export const internalApiSettings = {
  GRPC_HOST: setting({
    group: internalGroup,
    schema: text,
    default: '127.0.0.1',
    description: 'The address of the internal gRPC API and of the operator command line.',
  }),
  GRPC_PORT: setting({
    group: internalGroup,
    schema: integer(0, 65_535),
    default: 9_091,
    description: 'The port of the internal gRPC API. 0 takes a free one.',
  }),
  GRPC_CERT_FILE: setting({
    group: internalGroup,
    schema: text,
    description: 'The certificate (PEM) of the internal API. With `GRPC_KEY_FILE`, it speaks TLS.',
  }),
  GRPC_KEY_FILE: setting({
    group: internalGroup,
    schema: text,
    description: 'The private key (PEM) of `GRPC_CERT_FILE`.',
  }),
  GRPC_CLIENT_CA_FILE: setting({
    group: internalGroup,
    schema: text,
    description:
      'The certificates (PEM) that vouch for callers. With it, callers must show a certificate (mutual TLS).',
  }),
  GRPC_ALLOW_INSECURE: setting({
    group: internalGroup,
    schema: flag,
    default: false,
    description:
      'Allows the internal API on other than loopback addresses without mutual TLS: whoever reaches its port operates the cluster.',
  }),
};
