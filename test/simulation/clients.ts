/** All clients of the simulated server: the devices of a few accounts, and clients of a few counters. */
import type { SeededRandom } from '../kit/random.ts';
import { Account } from './account.ts';
import type { Checkers } from './checkers/checkers.ts';
import { CounterClient } from './counters.ts';
import { Owner } from './delivery/owner.ts';
import { Publisher } from './delivery/publisher.ts';
import { Device } from './devices.ts';
import { signinKeys, tokens } from './domain.ts';
import type { Gateway } from './gateway.ts';
import { Audience } from './lane/audience.ts';
import { Syncer, type SyncerOptions } from './lane/syncer.ts';
import type { Plan } from './plan.ts';
import { QuickJobClient } from './quick-jobs.ts';
import type { Session } from './sign-in.ts';
import { SlowJobClient } from './slow-jobs.ts';
import type { SimulatedTime } from './time.ts';
import { Member } from './vaults/member.ts';
import { SharedFacts } from './vaults/shared-facts.ts';

export interface Client {
  work(untilMs: number): Promise<void>;
  /** Call before the last readings. Resolves to the obstacles. */
  lastSave?(): Promise<string | undefined>;
  /** Call once everything is at rest. Resolves to the obstacles to an end, if there are any. */
  finish(): Promise<string | undefined>;
}

type LaneServers = Pick<SyncerOptions, 'servers' | 'tickets'>;

export interface ClientsOptions {
  readonly plan: Plan;
  readonly time: SimulatedTime;
  readonly gateway: Gateway;
  readonly checkers: Checkers;
  readonly randomOf: (part: string) => SeededRandom;
  /** Undefined: devices sync over HTTP alone. */
  readonly lane: LaneServers | undefined;
}

const emails = ['one@example.org', 'two@example.org'];
const ownerNames = ['ann', 'ben'];
const publisherNames = ['pia', 'pam'];
const memberNames = ['mia', 'max', 'moe', 'mel'];
const clientNames = ['p', 'q', 'r', 's', 't'];
const slowJobClientNames = ['u', 'v'];
export const counterNames = ['c1', 'c2', 'c3', 'c4'];
/** The first device of an account only reads. */
const apiVersions = ['20240226', '20200115', '20240226'];
const sharedUuids = 2;

export function createClients(options: ClientsOptions): readonly Client[] {
  return [
    ...createDevices(options),
    ...createCounterClients(options),
    ...createSlowJobClients(options),
    ...createQuickJobClients(options),
    ...createOwners(options),
    ...createPublishers(options),
    ...createMembers(options),
  ];
}

function createCounterClients({ plan, time, gateway, checkers, randomOf }: ClientsOptions): Client[] {
  const counters = counterNames.slice(0, plan.counters);
  const { thinkMs, callsMax, patienceMs } = plan;
  const { history, staleness } = checkers;
  const shared = { time, gateway, history, staleness, counters, thinkMs, callsMax, patienceMs };
  return clientNames
    .slice(0, plan.clients)
    .map((name) => new CounterClient({ ...shared, name, random: randomOf(name) }));
}

function createSlowJobClients({ plan, time, gateway, checkers, randomOf }: ClientsOptions): Client[] {
  const counters = counterNames.slice(0, plan.counters);
  const shared = { time, gateway, history: checkers.history, counters, hangs: plan.isTroubled };
  return slowJobClientNames
    .slice(0, plan.slowJobClients)
    .map((name) => new SlowJobClient({ ...shared, name, random: randomOf(name) }));
}

function createQuickJobClients({ plan, time, gateway, checkers, randomOf }: ClientsOptions): Client[] {
  if (!plan.isTroubled) return [];
  const counters = counterNames.slice(0, plan.counters);
  const { history, quickJobs } = checkers;
  return [new QuickJobClient({ time, gateway, history, quickJobs, counters, random: randomOf('errands') })];
}

function createOwners({ plan, time, gateway, checkers, randomOf }: ClientsOptions): Client[] {
  const { delivery, thinkMs, callsMax } = plan;
  const { mails, shares, sessions } = checkers;
  if (delivery === undefined || mails === undefined) return [];
  return ownerNames.slice(0, delivery.owners).map((device) => {
    const account = new Account(`${device}@example.org`, [], checkers.reportOf('sessions'));
    const signIn = { account, tokens, signinKeys, sessions, device, apiVersion: '20200115' };
    const random = randomOf(device);
    const { openers } = delivery;
    return new Owner({ ...signIn, time, gateway, random, mails, shares, openers, thinkMs, callsMax });
  });
}

function createPublishers({ plan, time, gateway, checkers, randomOf }: ClientsOptions): Client[] {
  const { delivery, thinkMs, callsMax } = plan;
  const { messages, sessions } = checkers;
  if (delivery === undefined || messages === undefined) return [];
  return publisherNames.slice(0, delivery.publishers).map((device) => {
    const account = new Account(`${device}@example.org`, [], checkers.reportOf('sessions'));
    const signIn = { account, tokens, signinKeys, sessions, device, apiVersion: '20200115' };
    return new Publisher({ ...signIn, time, gateway, random: randomOf(device), messages, thinkMs, callsMax });
  });
}

/** The first ones have made the vaults, and the first ones leave. */
function createMembers({ plan, time, gateway, checkers, randomOf }: ClientsOptions): Client[] {
  const { vaults, thinkMs, callsMax } = plan;
  const { vaults: checker, survivors, sessions } = checkers;
  if (vaults === undefined || checker === undefined) return [];
  const facts = new SharedFacts();
  return memberNames.slice(0, vaults.members).map((device, index) => {
    const account = new Account(`${device}@example.org`, [], checkers.reportOf('sessions'));
    const signIn = { account, tokens, signinKeys, sessions, device, apiVersion: '20200115' };
    const owned = index < vaults.vaults ? 1 : 0;
    const shared = { time, gateway, facts, checker, survivors, thinkMs, callsMax, vaults: owned };
    const random = randomOf(device);
    const stays = index < vaults.leavers ? 0.4 + random.fraction() * 0.4 : undefined;
    const isStill = vaults.leavers === 0;
    return new Member({ ...signIn, ...shared, random, stays, designates: !isStill, ends: isStill });
  });
}

function createDevices(options: ClientsOptions): Client[] {
  const { plan, checkers, randomOf } = options;
  const random = randomOf('uuids');
  const foreignUuids = [random.uuid()];
  return emails.slice(0, plan.accounts).flatMap((email) => {
    const uuids = Array.from({ length: sharedUuids }, () => random.uuid());
    const account = new Account(email, uuids, checkers.reportOf('sessions'));
    const audience = new Audience(options.time, checkers.reportOf('notices'));
    return apiVersions
      .slice(0, plan.editors + 1)
      .map((apiVersion, index) =>
        createDevice(options, { account, audience, apiVersion, index, foreignUuids }),
      );
  });
}

interface OneDevice {
  readonly account: Account;
  readonly audience: Audience;
  readonly apiVersion: string;
  readonly index: number;
  readonly foreignUuids: readonly string[];
}

function createDevice(
  { plan, time, gateway, checkers, randomOf, lane }: ClientsOptions,
  { audience, ...of }: OneDevice,
): Client {
  const onlyReads = of.index === 0;
  const device = `${of.account.email.slice(0, 3)}-${onlyReads ? 'follower' : of.index}`;
  const { thinkMs, callsMax, patienceMs } = plan;
  const syncerOf = (session: Session) =>
    new Syncer({
      device,
      time,
      random: randomOf(`lane of ${device}`),
      session,
      audience,
      checker: checkers.commands,
      report: checkers.reportOf('commands'),
      ...(lane as LaneServers),
    });
  return new Device({
    ...of,
    refreshed: (session, askedMs) => checkers.commands.refreshed(session, askedMs),
    ...(lane !== undefined && { lane: { syncerOf, audience, devices: plan.editors + 1 } }),
    device,
    onlyReads,
    time,
    gateway,
    random: randomOf(device),
    tokens,
    signinKeys,
    sessions: checkers.sessions,
    staleness: checkers.staleness,
    durable: checkers.durable,
    replicaReport: checkers.reportOf('replicas'),
    conflictReport: checkers.reportOf('conflicts'),
    thinkMs,
    callsMax,
    patienceMs,
  });
}
