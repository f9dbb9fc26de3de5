/** The services of compose.yaml after a reboot, and beside a second server made as its first lines say. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import yaml from 'js-yaml';
import type { Tree } from '../helm/chart.ts';

const textOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const [compose] = yaml.safeLoadAll(textOf('compose.yaml')) as Tree[];
const { server } = compose.services;

/** The mounts: what, and where. */
const volumesOf = (service: Tree): readonly (readonly [volume: string, path: string])[] =>
  service.volumes.map((text: string) => text.split(':'));

test('every service comes back after a reboot, before which all end as they should', (t) => {
  for (const [name, { restart }] of Object.entries<Tree>(compose.services))
    t.is(restart, 'unless-stopped', name);
});

test('files lie on a volume of their own, which a second server with its own data can share', (t) => {
  const [ofData, ...others] = volumesOf(server);
  t.is(ofData?.[1], '/var/lib/scriptorium');
  const ofFiles = others.find(([, path]) => server.environment.FILES_FOLDER.startsWith(`${path}/`));
  t.not(ofFiles, undefined);
  t.not(ofFiles?.[0], ofData?.[0]);
  t.is(server.environment.FILES_FOLDER_SHARED, 'true');
  for (const [volume] of volumesOf(server)) t.true(volume in compose.volumes, volume);
});

test('the image has a folder of its user for each volume, which a new volume gets its owner from', (t) => {
  const [, folders = ''] =
    /install --directory --owner=10001 .*--mode=700 (.+?) \\/.exec(textOf('Containerfile')) ?? [];
  t.deepEqual(
    volumesOf(server).map(([, path]) => path),
    folders.split(' '),
  );
});
