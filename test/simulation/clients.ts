/** Everybody who uses the simulated server: the devices of a few accounts, and clients of a few counters. */
import type { SeededRandom } from '../kit/random.ts';
import { Account } from './account.ts';
import type { Checkers } from './checkers/checkers.ts';
import { CounterClient } from './counters.ts';
import { Device } from './devices.ts';
import { signinKeys, tokens } from './domain.ts';
import type { Gateway } from './gateway.ts';
import { HaulClient } from './hauls.ts';
import type { Plan } from './plan.ts';
import type { SimulatedTime } from './time.ts';

export interface Client {
  work(untilMs: number): Promise<void>;
  /** Once everything is at rest. Resolves to what hinders it from an end, if anything does. */
  finish(): Promise<string | undefined>;
}

export interface ClientsOptions {
  readonly plan: Plan;
  readonly time: SimulatedTime;
  readonly gateway: Gateway;
  readonly checkers: Checkers;
  readonly randomOf: (part: string) => SeededRandom;
}

const emails = ['one@example.org', 'two@example.org'];
const clientNames = ['p', 'q', 'r', 's', 't'];
const haulClientNames = ['u', 'v'];
export const counterNames = ['c1', 'c2', 'c3', 'c4'];
/** The first device of an account only reads. */
const apiVersions = ['20240226', '20200115', '20240226'];
const sharedUuids = 2;

export function createClients(options: ClientsOptions): readonly Client[] {
  return [...createDevices(options), ...createCounterClients(options), ...createHaulClients(options)];
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

function createHaulClients({ plan, time, gateway, checkers, randomOf }: ClientsOptions): Client[] {
  const counters = counterNames.slice(0, plan.counters);
  const shared = { time, gateway, history: checkers.history, counters };
  return haulClientNames
    .slice(0, plan.haulClients)
    .map((name) => new HaulClient({ ...shared, name, random: randomOf(name) }));
}

function createDevices(options: ClientsOptions): Client[] {
  const { plan, checkers, randomOf } = options;
  const random = randomOf('uuids');
  const foreignUuids = [random.uuid()];
  return emails.slice(0, plan.accounts).flatMap((email) => {
    const uuids = Array.from({ length: sharedUuids }, () => random.uuid());
    const account = new Account(email, uuids, checkers.reportOf('sessions'));
    return apiVersions
      .slice(0, plan.editors + 1)
      .map((apiVersion, index) => createDevice(options, { account, apiVersion, index, foreignUuids }));
  });
}

function createDevice(
  { plan, time, gateway, checkers, randomOf }: ClientsOptions,
  of: { account: Account; apiVersion: string; index: number; foreignUuids: readonly string[] },
): Client {
  const onlyReads = of.index === 0;
  const device = `${of.account.email.slice(0, 3)}-${onlyReads ? 'follower' : of.index}`;
  const { thinkMs, callsMax, patienceMs } = plan;
  return new Device({
    ...of,
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
