/** A message between two accounts: whatever happens at the same moment, and whenever the host dies. */
import test, { type ExecutionContext } from 'ava';
import { bob } from '../kit/account.ts';
import { Death } from '../kit/death.ts';
import { accepted, type Device, deleteAccount } from '../kit/device.ts';
import type { Answer } from '../kit/http.ts';
import { startServer, type TestServer } from '../kit/server.ts';

const messages = '/v1/messages';
const identifier = 'root-key-changed:v:k';

interface Scene {
  readonly server: TestServer;
  readonly sender: Device;
  readonly recipient: Device;
}

/** Like clients, again and again while the server is unavailable. */
async function insist(device: Device, ...request: Parameters<Device['call']>): Promise<Answer> {
  for (;;) {
    const answer = await device.call(...request);
    if (answer.status !== 503) return answer;
  }
}

const post = ({ sender, recipient }: Scene, text: string) =>
  insist(sender, 'POST', messages, {
    body: {
      recipient_uuid: recipient.account.userUuid,
      encrypted_message: text,
      replaceability_identifier: identifier,
    },
  });
const list = async (device: Device, path: string): Promise<{ uuid: string; encrypted_message: string }[]> => {
  const answer = await insist(device, 'GET', path);
  return answer.status === 401 ? [] : accepted(answer).messages;
};
const remove = async (device: Device, path: string) => {
  for (const { uuid } of await list(device, path)) await insist(device, 'DELETE', `${messages}/${uuid}`);
};
/** A message may still be on its way when its sender is answered. */
const removeWhatCame = async (recipient: Device) => {
  while ((await list(recipient, messages)).length === 0);
  await remove(recipient, messages);
};

async function startScene(t: ExecutionContext, death = new Death()): Promise<Scene> {
  const server = await startServer(t, { host: { schedule: death.schedule } });
  return { server, sender: await server.device(), recipient: await server.device(bob.email) };
}

interface Scenario {
  readonly calls: (scene: Scene) => readonly (() => Promise<unknown>)[];
  /** The final view of both sides. */
  readonly end: readonly string[];
}

const scenarios: Readonly<Record<string, Scenario>> = {
  'a message is sent': { calls: (scene) => [() => post(scene, 'one')], end: ['one'] },
  'a message is sent and replaced twice': {
    calls: (scene) => [() => post(scene, 'one'), () => post(scene, 'two'), () => post(scene, 'three')],
    end: ['three'],
  },
  'a message is sent and deleted by its sender': {
    calls: (scene) => [() => post(scene, 'one'), () => remove(scene.sender, `${messages}/outbound`)],
    end: [],
  },
  'a message is sent, and its recipient deletes what came': {
    calls: (scene) => [() => post(scene, 'one'), () => removeWhatCame(scene.recipient)],
    end: [],
  },
  'a message is sent, and its sender deletes the account': {
    calls: (scene) => [() => post(scene, 'one'), () => deleteAccount(scene.sender)],
    end: [],
  },
};

for (const [what, { calls: callsOf, end }] of Object.entries(scenarios)) {
  test(`${what}, and the host dies around any commit: nothing is lost or doubled`, async (t) => {
    let deaths = 0;
    for (let commit = 1; ; commit += 1) {
      const died = [await dies(commit, false), await dies(commit, true)];
      deaths += died.filter(Boolean).length;
      if (!died.includes(true)) break;
    }
    t.true(deaths >= 2);

    async function dies(commit: number, isApplied: boolean): Promise<boolean> {
      const death = new Death();
      const scene = await startScene(t, death);
      const { server, sender, recipient } = scene;
      death.plan(commit, isApplied);
      let isOver = false;
      const calls = (async () => {
        for (const call of callsOf(scene)) await call();
        isOver = true;
      })();
      await server.until(() => isOver || death.isDead, 10_000);
      if (isOver && !death.isDead) await server.advance(10_000);
      const { isDead } = death;
      death.over();
      if (isDead) await server.restart();
      await server.answered(calls, 60_000);
      await server.advance(20_000);
      const where = `commit ${commit}, ${isApplied ? 'applied' : 'lost'}`;
      const inbound = (await list(recipient, messages)).map((each) => each.encrypted_message);
      t.deepEqual(inbound, [...end], where);
      if (what.includes('account')) return isDead;
      const outbound = await list(sender, `${messages}/outbound`);
      t.deepEqual(outbound, await list(recipient, messages), where);
      return isDead;
    }
  });
}
