/** `health`. */
import { HealthService } from '../../proto/generated/grpc/health/v1/health.ts';
import { exitCodes } from '../failure.ts';
import type { Session } from '../session.ts';
import { table } from '../table.ts';
import { type AddCommands, teach } from './command.ts';

export const addHealthCommands: AddCommands = (program, run) => {
  teach(
    program
      .command('health')
      .summary('whether the node serves')
      .description('Ask the node at --address whether it serves. Exit code 69: it does not.')
      .action(() => run(health)),
    'In scripts that wait for a node, and to see which part of a node has failed: its database, its lease and ' +
      'shards (host), or its connection to other nodes (transport).',
    'health',
    'health --address notes-2.internal:9091 --json',
  );
};

async function health(session: Session): Promise<number> {
  const { statuses } = await session.ask(HealthService.list, {});
  const all = Object.entries(statuses).map(([service, { status }]) => [service, status] as const);
  const serving = statuses['']?.status === 'SERVING';
  // The API's services are up when the node is.
  const checks = all.filter(([service]) => service !== '' && !service.includes('.'));
  session.answer({ serving, checks: Object.fromEntries(checks) }, () =>
    table(['CHECK', 'STATUS'], [...checks, ['the node', serving ? 'SERVING' : 'NOT_SERVING']]),
  );
  return serving ? exitCodes.ok : exitCodes.unavailable;
}
