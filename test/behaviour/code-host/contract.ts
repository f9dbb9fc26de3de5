/** The effects of publishing on a code host and its answers: the same for every supported host, fake or real. */
import test, { type ExecutionContext } from 'ava';
import { contentBytesMax } from '../../../gateway/code-host/publishing-request.ts';
import { type CodeHostRepository, startCodeHostServer } from '../../kit/code-host-server.ts';
import { startServer } from '../../kit/server.ts';

export const path = '/v1/integrations/codehost/publish';

/** A server whose code host has this repository, and a user who publishes to it. */
export async function publishing(t: ExecutionContext, repository: CodeHostRepository) {
  const host = await startCodeHostServer(t, repository);
  const server = await startServer(t, { codeHost: { apiUrl: host.apiUrl } });
  const phone = await server.device();
  const { owner, repo, writer: token } = repository;
  const publish = async (fields: object = {}, to = path) => {
    // Moves on from the minute in which ten are too many.
    await server.advance(61_000);
    const body = { token, owner, repo, path: 'note.md', content: '# A note\n', ...fields };
    return phone.call('POST', to, { body });
  };
  const refused = async (fields: object = {}) => {
    const { status, body } = await publish(fields);
    return `${status} ${body.error.tag}`;
  };
  return { ...host, server, phone, publish, refused };
}

/** @param repositoryFor makes a repository without the files of these tests */
export function codeHostContract(name: string, repositoryFor: () => Promise<CodeHostRepository>): void {
  test(`${name}: a file is made, and replaced, by either path`, async (t) => {
    const { publish, repository, requests } = await publishing(t, await repositoryFor());
    const commits = /^https:\/\/code\.test\/[\w/-]+\/commit\/[0-9a-f]{40}$/;
    const encoded = 'Notes/a%20b/Caf%C3%A9%20%231.md';
    const made = await publish({ path: '/Notes\\../a b/./Café #1.md ' });
    t.is(made.status, 200, made.text);
    const { commitUrl, ...answer } = JSON.parse(made.text);
    t.deepEqual(answer, {
      created: true,
      path: 'Notes/a b/Café #1.md',
      contentUrl: repository.contentUrl(encoded),
    });
    t.regex(commitUrl, commits);
    t.is(await repository.read('Notes/a b/Café #1.md'), '# A note\n');
    t.is(await repository.lastMessage(), 'Publish Notes/a b/Café #1.md');
    t.true(requests[1]?.url.endsWith(`/contents/${encoded}`));
    t.is(JSON.parse(requests[1]?.body ?? '').branch, 'main');
    const first = await publish();
    t.deepEqual([first.status, first.body.created], [200, true]);
    const fields = { content: 'other “text” 😀', message: ' Say more ' };
    const { body } = await publish(fields, '/v1/integrations/github/publish/');
    t.like(body, { created: false, path: 'note.md', contentUrl: repository.contentUrl('note.md') });
    t.regex(body.commitUrl, commits);
    t.is(await repository.read('note.md'), 'other “text” 😀');
    t.is(await repository.lastMessage(), 'Say more');
    t.like(requests.at(-1)?.headers, {
      authorization: `Bearer ${repository.writer}`,
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
      'user-agent': 'scriptorium',
    });
  });

  test(`${name}: an empty file and the largest there may be are made and replaced`, async (t) => {
    const { publish, repository } = await publishing(t, await repositoryFor());
    const largest = 'é'.repeat(contentBytesMax / 2);
    for (const [content, created] of [
      ['', true],
      [largest, false],
      ['', false],
    ] as const) {
      t.like((await publish({ content })).body, { created });
      t.true((await repository.read('note.md')) === content);
    }
  });

  test(`${name}: what somebody else has changed, removed or made meanwhile is a conflict`, async (t) => {
    const { publish, refused, repository, state } = await publishing(t, await repositoryFor());
    await publish();
    state.beforePut = () => repository.write('note.md', 'somebody else’s');
    t.is(await refused({ content: 'mine' }), '409 conflict');
    t.is(await repository.read('note.md'), 'somebody else’s');
    state.beforePut = () => repository.write('note.md', undefined);
    t.is(await refused({ content: 'mine' }), '409 conflict');
    state.beforePut = () => repository.write('new.md', 'somebody else’s');
    t.is(await refused({ path: 'new.md' }), '409 conflict');
    t.is(await repository.read('new.md'), 'somebody else’s');
  });

  test(`${name}: what is not there, not allowed or not a file is refused, and never as a lost session`, async (t) => {
    const { publish, refused, repository } = await publishing(t, await repositoryFor());
    await publish({ path: 'folder/note.md' });
    t.is(await refused({ token: 'wrong' }), '403 bad-token');
    t.is(await refused({ token: repository.reader }), '403 forbidden');
    t.is(await refused({ repo: 'nowhere' }), '404 repo-not-found');
    t.is(await refused({ owner: 'nobody' }), '404 repo-not-found');
    t.is(await refused({ branch: 'nowhere' }), '404 repo-not-found');
    t.is(await refused({ path: 'folder' }), '422 path-is-directory');
    t.is(await refused({ path: 'folder/note.md/below.md' }), '422 unprocessable');
    t.is(await repository.read('folder/note.md'), '# A note\n');
  });

  test(`${name}: a 422 for any other reason is none of the conflicts`, async (t) => {
    const { refused, state } = await publishing(t, await repositoryFor());
    state.answer = (response, { method }) => {
      if (method === 'GET') return false;
      response.writeHead(422, {}).end('{"message":"words of the host"}');
      return true;
    };
    t.is(await refused(), '422 unprocessable');
  });
}
