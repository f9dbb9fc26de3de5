/** The contract of a code host, with a real Gitea. */
import test from 'ava';
import { codeHostContract, publishing } from '../behaviour/code-host/contract.ts';
import { type Gitea, startGitea } from '../kit/gitea.ts';

const limitMs = 240_000;
let gitea: Gitea;

test.before('Gitea is started', async (t) => {
  t.timeout(limitMs);
  gitea = await startGitea();
});
test.after.always('and stopped', () => gitea?.stop());

codeHostContract('Gitea 1.26.0', () => gitea.makeRepository());

test('each of many simultaneous publications in one repository is told whether its file is there, and none that it is forbidden', async (t) => {
  const { publish, repository } = await publishing(t, await gitea.makeRepository());
  const all = await Promise.all(
    Array.from({ length: 8 }, async (_, index) => {
      const path = `${index}.md`;
      return { path, status: (await publish({ path })).status };
    }),
  );
  t.true(all.some(({ status }) => status === 200));
  for (const { path, status } of all) {
    t.is(await repository.read(path), status === 200 ? '# A note\n' : undefined);
    // Gitea cannot lock the branch, or fails because it has changed.
    t.true([200, 409, 502].includes(status), `${path}: ${status}`);
  }
});
