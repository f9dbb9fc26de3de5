/** The commands of `pairing`. */
import { PairingService, type Subscription } from '../../proto/generated/scriptorium/v1/pairing.ts';
import { CommandFailure, exitCodes } from '../failure.ts';
import { readInputFile } from '../input-file.ts';
import type { CommandSession } from '../session.ts';
import { counted, formatTable, isoOf, record, timestamp } from '../table.ts';
import type { AddCommands } from './command.ts';

const idHelp = 'the id of the subscription, as profiles of the assistant name it; left out, `default`';
/** The node asks the provider during the call. */
const completeMs = 25_000;

export const addPairingCommands: AddCommands = (program, run) => {
  const pairing = program
    .command('pairing')
    .summary('pair the assistant with subscriptions at its provider, and remove pairings')
    .description(
      'See, make and remove the pairings of the assistant with subscriptions at its provider. Tokens are shown to nobody.',
    );
  pairing
    .command('status')
    .argument('[id]', idHelp, '')
    .summary('how it is with one subscription')
    .description(
      'Show whether a subscription is paired, with which account, and what keeps it from being used.',
    )
    .action((id) => run((session) => status(session, id)))
    .teach(
      'When the assistant answers nobody, and after a subscription was paired.',
      'pairing status',
      'pairing status team.one',
    );
  pairing
    .command('list')
    .summary('list the subscriptions that are paired')
    .description('List the subscriptions that are paired, and what keeps them from being used.')
    .action(() => run(list))
    .teach('To see whether one needs to be paired again.', 'pairing list');
  pairing
    .command('start')
    .argument('[id]', idHelp, '')
    .summary('begin to pair a subscription')
    .description(
      'Begin to pair a subscription, or to pair it again: print the address at which its owner agrees. Treat the address like a password for the next ten minutes.',
    )
    .action((id) => run((session) => start(session, id)))
    .teach(
      'When the settings of pairing are there, or when a pairing needs repair. A pairing that there is goes on until the new one is complete.',
      'pairing start',
    );
  pairing
    .command('complete')
    .argument(
      '[file]',
      'contains the address that the browser came back to; without it, the command asks you',
    )
    .summary('complete a pairing by hand')
    .description(
      'Complete a pairing that `pairing start` has begun, by the address that the provider sent the browser back to.',
    )
    .action((file) => run((session) => complete(session, file)))
    .teach(
      'When the browser could not reach this server at that address. The address has a code in it, so it is no argument.',
      'pairing complete',
      'pairing complete address.txt',
    );
  pairing
    .command('unpair')
    .argument('<id>', 'the id of the subscription')
    .summary('remove one pairing')
    .description('Remove one pairing here. The provider is not notified: revoke it there, too.')
    .option('--yes', 'do it')
    .action((id, { yes = false }) => run((session) => unpair(session, id, yes)))
    .teach(
      'When a subscription shall not be used any more. Profiles that name it answer nobody then.',
      'pairing unpair team.one --yes',
    );
  pairing
    .command('unpair-all')
    .summary('remove all pairings, even those that cannot be read')
    .description('Remove all pairings here, and all unfinished ones. The provider is not notified.')
    .option('--yes', 'do it')
    .option('--unreadable', 'do it even if they cannot be read')
    .action((options) => run((session) => unpairAll(session, options)))
    .teach(
      'When the key of the pairings is to be another one, or is lost. If the key of the settings is wrong, set the right one instead.',
      'pairing unpair-all --yes',
      'pairing unpair-all --yes --unreadable',
    );
  pairing
    .command('usage')
    .argument('[id]', idHelp, '')
    .summary('the requests of one pairing to the provider')
    .description('Show how many requests and tokens were used by one pairing.')
    .action((id) => run((session) => usage(session, id)))
    .teach('To compare with what the provider says, and to see who is to pay.', 'pairing usage');
};

async function status(session: CommandSession, subscriptionId: string): Promise<void> {
  const { subscription } = await session.ask(PairingService.status, { subscriptionId });
  if (subscription !== undefined) show(session, subscription);
}

const show = (session: CommandSession, subscription: Subscription): void =>
  session.answer(documentOf(subscription), () =>
    record([
      ['subscription', subscription.subscriptionId],
      ['state', stateOf(subscription)],
      ['account', accountOf(subscription)],
      ['token until', timestamp(subscription.expires) || '-'],
      ['profiles', subscription.backendProfiles.join(', ') || '-'],
    ]),
  );

function documentOf({ expires, retry, ...subscription }: Subscription): object {
  return { ...subscription, expires: isoOf(expires), retry: isoOf(retry) };
}

const accountOf = ({ accountLabel, accountId }: Subscription): string =>
  [accountLabel, accountId].filter((each) => each !== '').join(', ') || '-';

/** If several things hold, the one that matters most. */
function stateOf(subscription: Subscription): string {
  const { available, paired, storeUnreadable, repairReason, transientFailure } = subscription;
  if (storeUnreadable) return 'unreadable: sealed under another key, or altered';
  if (!available) return 'no pairing: a setting is missing';
  if (repairReason !== '') return `pair it again: ${repairReason}`;
  if (transientFailure !== '') return `not now: ${transientFailure}, until ${timestamp(subscription.retry)}`;
  if (paired) return 'paired';
  return subscription.pendingAttempt ? 'being paired' : 'not paired';
}

async function list(session: CommandSession): Promise<void> {
  const { subscriptions } = await session.ask(PairingService.list, {});
  session.answer({ subscriptions: subscriptions.map(documentOf) }, () => {
    const rows = subscriptions.map((each) => [
      each.subscriptionId,
      stateOf(each),
      accountOf(each),
      each.backendProfiles.join(', ') || '-',
    ]);
    return rows.length === 0
      ? 'No subscription is paired.'
      : formatTable(['ID', 'STATE', 'ACCOUNT', 'PROFILES'], rows);
  });
}

async function start(session: CommandSession, subscriptionId: string): Promise<void> {
  const { expires, ...started } = await session.ask(PairingService.start, { subscriptionId });
  session.answer({ ...started, expires: isoOf(expires) }, () =>
    [
      `Open this address in a browser and agree there, before ${timestamp(expires)}:`,
      started.authorizationUrl,
      `The browser comes back to ${started.redirectUri}. If that page cannot be reached, give its whole address to \`scriptorium pairing complete\`.`,
    ].join('\n\n'),
  );
}

async function complete(session: CommandSession, file: string | undefined): Promise<void> {
  const address =
    file === undefined
      ? await session.terminal.askSecret('The address that the browser came back to: ')
      : readInputFile(file, file).toString();
  const { subscription } = await session.ask(PairingService.complete, parseRedirect(address), completeMs);
  if (subscription !== undefined) show(session, subscription);
}

/** Its errors repeat nothing from the input. @throws CommandFailure */
function parseRedirect(text: string): { readonly code: string; readonly state: string } {
  const address = text.trim();
  const query = URL.canParse(address) ? new URL(address).searchParams : new URLSearchParams();
  const [code, state] = [query.get('code'), query.get('state')];
  if (query.has('error')) throw CommandFailure.refused('The provider did not agree to the pairing.');
  if (code !== null && state !== null) return { code, state };
  throw CommandFailure.usage('This is no address with the code and the state of a pairing.');
}

async function unpair(session: CommandSession, subscriptionId: string, yes: boolean): Promise<void> {
  if (!yes) {
    const { subscription } = await session.ask(PairingService.status, { subscriptionId });
    const profiles = subscription?.backendProfiles ?? [];
    const harm = profiles.length > 0 ? ` Profiles that would answer nobody: ${profiles.join(', ')}.` : '';
    throw CommandFailure.refused(`This would remove the pairing.${harm} Use --yes to do it.`);
  }
  const { unpaired } = await session.ask(PairingService.unpair, { subscriptionId, confirmReferences: true });
  session.answer(
    { subscriptionId, unpaired },
    unpaired ? 'The pairing is removed. Revoke it at the provider, too.' : 'It was not paired.',
  );
}

interface UnpairAllOptions {
  readonly yes?: true;
  readonly unreadable?: true;
}

async function unpairAll(session: CommandSession, { yes, unreadable }: UnpairAllOptions): Promise<void> {
  const { subscription } = await session.ask(PairingService.status, { subscriptionId: '' });
  const isUnreadable = subscription?.storeUnreadable === true;
  if (isUnreadable && !(yes && unreadable)) {
    throw new CommandFailure(
      exitCodes.refused,
      'The pairings cannot be read: they were sealed under another key, or altered. ' +
        'The right key would bring them back. Use --yes --unreadable to remove them for good.',
    );
  }
  if (!yes) {
    const { subscriptions } = await session.ask(PairingService.list, {});
    const what = counted(subscriptions.length, 'pairing');
    throw CommandFailure.refused(`This would remove ${what} and all that were begun. Use --yes to do it.`);
  }
  const { count } = await session.ask(PairingService.unpairAll, { unreadableToo: unreadable === true });
  session.answer({ count }, `${counted(count, 'pairing')} removed. Revoke them at the provider, too.`);
}

async function usage(session: CommandSession, subscriptionId: string): Promise<void> {
  const { since, updated, ...used } = await session.ask(PairingService.usage, { subscriptionId });
  session.answer({ ...used, since: isoOf(since), updated: isoOf(updated) }, () =>
    record([
      ['subscription', used.subscriptionId],
      ['requests', used.requests],
      ['prompt tokens', used.promptTokens],
      ['completion tokens', used.completionTokens],
      ['first', timestamp(since) || '-'],
      ['last', timestamp(updated) || '-'],
    ]),
  );
}
