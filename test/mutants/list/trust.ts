import type { Mutant } from '../mutant.ts';

const seal = ['runtime/transport/nats/seal.test.ts'];
const internalApi = ['test/attacks/internal-api.test.ts'];
const strangers = ['test/attacks/nats.test.ts'];

export const mutants: readonly Mutant[] = [
  {
    name: 'a-seal-that-nobody-checks',
    harm: 'Whoever speaks to NATS is a host: he asks any actor, and answers for any.',
    file: 'runtime/transport/nats/seal.ts',
    find: 'if (!timingSafeEqual(message.subarray(end), macOf(message.subarray(0, end), subject, reply))) {',
    replace: 'if (message.length === 0) {',
    tests: [...seal, ...strangers],
  },
  {
    name: 'a-seal-for-any-subject',
    harm: 'A message that was overheard is sent again to where it was not meant for.',
    file: 'runtime/transport/nats/seal.ts',
    find: "hmac([subject, reply, ''].join(' '), sealed)",
    replace: "hmac([reply, ''].join(' '), sealed)",
    tests: seal,
  },
  {
    name: 'a-seal-for-any-answer',
    harm: 'Whoever overhears a call has it answered to himself.',
    file: 'runtime/transport/nats/seal.ts',
    find: "hmac([subject, reply, ''].join(' '), sealed)",
    replace: "hmac([subject, ''].join(' '), sealed)",
    tests: [...seal, ...strangers],
  },
  {
    name: 'a-seal-that-never-ages',
    harm: 'What was overheard last year is done once more.',
    file: 'runtime/transport/nats/seal.ts',
    find: 'if (Math.abs(agoMs) > staleMs)',
    replace: 'if (agoMs < 0)',
    tests: seal,
  },
  {
    name: 'an-answer-without-a-seal',
    harm: 'A stranger answers calls before their owner does.',
    file: 'runtime/transport/nats/connection.ts',
    find: 'rejected.count(error.reason);\n      return;',
    replace: 'rejected.count(error.reason);\n      frame = data;',
    tests: strangers,
  },
  {
    name: 'a-wake-up-without-a-seal',
    harm: 'Strangers keep hosts busy with deliveries of nothing.',
    file: 'runtime/transport/nats/wake-stream.ts',
    find: 'decodeFrameOf(seal.open({ subject, data }),',
    replace: 'decodeFrameOf((seal.open, data.subarray(7, -16)),',
    tests: strangers,
  },
  {
    name: 'nats-in-plain-text-anywhere',
    harm: 'Everybody on the way to NATS reads what users send.',
    file: 'config.ts',
    find: 'if (!isNatsSecure && secrets.natsUrls?.some(isPlainNats)) {',
    replace: 'if (!isNatsSecure && secrets.natsUrls?.every(isPlainNats)) {',
    tests: ['config.test.ts'],
  },
  {
    name: 'a-socket-for-everybody',
    harm: 'Any user of the machine drains nodes and ends sessions.',
    file: 'process/internal-api.ts',
    find: '  await chmod(socketPath, 0o600);\n',
    replace: '',
    tests: internalApi,
  },
  {
    name: 'a-port-without-a-token',
    harm: 'Any user of the machine drains nodes and ends sessions.',
    file: 'process/internal-api.ts',
    find: 'files.clientCaFile === undefined ?',
    replace: 'files.clientCaFile !== undefined ?',
    tests: internalApi,
  },
  {
    name: 'any-token-is-right',
    harm: 'Who guesses anything operates the server.',
    file: 'operations/access.ts',
    find: 'timingSafeEqual(digestOf(shown), expected)',
    replace: 'timingSafeEqual(digestOf(shown), digestOf(shown))',
    tests: internalApi,
  },
];
