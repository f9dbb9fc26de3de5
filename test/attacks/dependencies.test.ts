/** A package that is taken over, and would run its own code on every machine that installs the server. */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { temporaryFolder } from '../kit/temporary-folder.ts';

const run = promisify(execFile);
const root = new URL('../..', import.meta.url).pathname;
const read = async (file: string) => JSON.parse(await readFile(join(root, file), 'utf8'));

/** A project with our settings of npm, and a dependency whose every script leaves a file. */
async function withHostilePackage(t: ExecutionContext) {
  const folder = temporaryFolder(t);
  const mark = join(folder, 'has-run');
  const leaves = `node -e "require('node:fs').writeFileSync(process.argv[1], '')" ${mark}`;
  await mkdir(join(folder, 'hostile'));
  const scripts = { preinstall: leaves, install: leaves, postinstall: leaves };
  const hostile = { name: 'hostile', version: '1.0.0', scripts };
  await writeFile(join(folder, 'hostile', 'package.json'), JSON.stringify(hostile));
  await run('npm', ['pack', './hostile'], { cwd: folder });
  const { allowScripts } = await read('package.json');
  const project = { name: 'project', allowScripts, dependencies: { hostile: 'file:hostile-1.0.0.tgz' } };
  await writeFile(join(folder, 'package.json'), JSON.stringify(project));
  await copyFile(join(root, '.npmrc'), join(folder, '.npmrc'));
  const install = async (...options: readonly string[]) => {
    const cache = join(folder, 'cache');
    await run('npm', ['install', '--offline', '--cache', cache, ...options], { cwd: folder });
    const isThere = await readFile(join(folder, 'node_modules/hostile/package.json')).then(() => true);
    return {
      isThere,
      hasRun: await readFile(mark).then(
        () => true,
        () => false,
      ),
    };
  };
  return { install };
}

test('no script of a package runs when it is installed', async (t) => {
  const { install } = await withHostilePackage(t);
  t.deepEqual(await install(), { isThere: true, hasRun: false });
});

test('it is the setting of the project that keeps them from running', async (t) => {
  const { install } = await withHostilePackage(t);
  // Newer releases of npm also want the package to be allowed.
  const allowed = ['--ignore-scripts=false', '--dangerously-allow-all-scripts'];
  t.deepEqual(await install(...allowed), { isThere: true, hasRun: true });
});

test('every package that would run a script is known, and none is allowed to', async (t) => {
  const { packages } = await read('package-lock.json');
  const { allowScripts } = await read('package.json');
  const wanting = Object.entries(packages as Record<string, { hasInstallScript?: boolean }>)
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
  t.deepEqual(Object.keys(allowScripts).toSorted(), [...new Set(wanting)].toSorted());
  t.true(Object.values(allowScripts).every((isAllowed) => isAllowed === false));
});

test('the own commands need no script before or after them, which would not run either', async (t) => {
  const { scripts } = await read('package.json');
  const names = Object.keys(scripts);
  const around = names.filter((name) =>
    names.some((other) => [`pre${other}`, `post${other}`].includes(name)),
  );
  t.deepEqual(around, []);
});
