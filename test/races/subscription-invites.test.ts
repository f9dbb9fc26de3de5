/** Two accounts and an invite between them: whatever happens at the same moment, and whenever the host dies. */
import test, { type ExecutionContext } from 'ava';
import { Death } from '../kit/death.ts';
import { type Device, deleteAccount } from '../kit/device.ts';
import { startServer, type TestServer } from '../kit/server.ts';

const invites = '/v1/subscription-invites';

interface Scene {
  readonly server: TestServer;
  readonly inviter: Device;
  readonly guest: Device;
  readonly uuid: string;
}

const accept = ({ guest, uuid }: Scene) => guest.call('POST', `${invites}/${uuid}/accept`);
const cancel = ({ inviter, uuid }: Scene) => inviter.call('DELETE', `${invites}/${uuid}`);
const decline = ({ guest, uuid }: Scene) => guest.call('DELETE', `${invites}/${uuid}`);

async function startScene(t: ExecutionContext, death = new Death()): Promise<Scene> {
  const server = await startServer(t, { host: { schedule: death.schedule } });
  const inviter = await server.device();
  const guest = await server.device('bob@example.org');
  const { body } = await inviter.call('POST', invites, { body: { identifier: guest.account.email } });
  return { server, inviter, guest, uuid: body.sharedSubscriptionInvitationUuid };
}

/** The view of each side; `gone` once the account is deleted. */
async function statesOf({ inviter, guest }: Scene): Promise<readonly [invite: string, guest: string]> {
  const listed = await inviter.call('GET', invites);
  const path = `/v1/users/${guest.account.userUuid}/subscription`;
  const view = await guest.call('GET', path);
  return [
    listed.status === 200 ? listed.body.invitations[0].status : 'gone',
    view.status === 200 ? view.body.subscription.subscriptionType : 'gone',
  ];
}

const agree = ([invite, guest]: readonly [string, string]): boolean =>
  guest === 'gone' ? invite !== 'accepted' : (invite === 'accepted') === (guest === 'shared');

const scenarios: Readonly<Record<string, (scene: Scene) => readonly (() => Promise<unknown>)[]>> = {
  'an invite is accepted': (scene) => [() => accept(scene)],
  'an invite is accepted and cancelled': (scene) => [() => accept(scene), () => cancel(scene)],
  'an invite is accepted and declined': (scene) => [() => accept(scene), () => decline(scene)],
  'an invite is accepted and its inviter deleted': (scene) => [
    () => accept(scene),
    () => deleteAccount(scene.inviter),
  ],
  'an invite is accepted and its guest deleted': (scene) => [
    () => accept(scene),
    () => deleteAccount(scene.guest),
  ],
};

for (const [what, callsOf] of Object.entries(scenarios)) {
  test(`${what} at the same moment: both come to say the same`, async (t) => {
    const scene = await startScene(t);
    await scene.server.answered(Promise.all(callsOf(scene).map((call) => call())));
    await scene.server.advance(10_000);
    const states = await statesOf(scene);
    t.true(agree(states), states.join());
  });

  test(`${what}, one after the other, and the host dies around any commit: both come to say the same`, async (t) => {
    let deaths = 0;
    for (let commit = 1; ; commit += 1) {
      const died = [await dies(commit, false), await dies(commit, true)];
      deaths += died.filter(Boolean).length;
      if (!died.includes(true)) break;
    }
    t.true(deaths >= 4);

    async function dies(commit: number, isApplied: boolean): Promise<boolean> {
      const death = new Death();
      const scene = await startScene(t, death);
      death.plan(commit, isApplied);
      let isOver = false;
      const calls = (async () => {
        for (const call of callsOf(scene)) await call();
        isOver = true;
      })();
      await scene.server.until(() => isOver || death.isDead, 5_000);
      const { isDead } = death;
      death.over();
      if (isDead) await scene.server.restart();
      await scene.server.answered(calls, 60_000);
      await scene.server.advance(10_000);
      const states = await statesOf(scene);
      t.true(agree(states), `commit ${commit}, ${isApplied ? 'applied' : 'lost'}: ${states.join()}`);
      return isDead;
    }
  });
}
