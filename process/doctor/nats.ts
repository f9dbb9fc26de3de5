/** Whether each NATS server of `NATS_URL` can be used: reached, large enough messages, JetStream. */
import { jetstreamManager } from '@nats-io/jetstream';
import type { Random } from '../../runtime/random.ts';
import { dial, type NatsAccess, serverOf } from '../../runtime/transport/nats/dial.ts';
import { type Finding, ok, problem } from './finding.ts';

const pingIntervalMs = 10_000;

/** A finding for each server. */
export function checkNats(access: NatsAccess, random: Random): Promise<readonly Finding[]> {
  return Promise.all(access.servers.map((url) => checkServer(url, access, random)));
}

async function checkServer(url: string, access: NatsAccess, random: Random): Promise<Finding> {
  try {
    const server = serverOf(url);
    const check = `NATS ${server.address}`;
    const { client } = await dial([server], { access, name: 'scriptorium doctor', pingIntervalMs, random });
    try {
      const version = client.info?.version ?? 'unknown';
      const hasJetStream = await jetstreamManager(client).then(
        () => true,
        () => false,
      );
      if (hasJetStream) return ok(check, `Version ${version} answers, with JetStream.`);
      return problem(
        check,
        `Version ${version} answers, without JetStream: wake-ups wait for sweeps.`,
        'Start it with `--jetstream`, and allow this user to use it.',
      );
    } finally {
      await client.close();
    }
  } catch (error) {
    return problem(
      'NATS',
      (error as Error).message,
      'Check NATS_URL, NATS_CREDENTIALS_FILE and NATS_CA_FILE.',
    );
  }
}
