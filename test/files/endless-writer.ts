/** Writes one blob after another until it is killed, four at once, and reports the name of each once it is durable. */
import { openLocalDisk } from '../../actors/files/local-disk.ts';
import { systemClock } from '../../runtime/clock.ts';
import { systemRandom } from '../../runtime/random.ts';
import { content, nameOf, write } from './blobs.ts';

const [folder = '', round = ''] = process.argv.slice(2);
const store = await openLocalDisk({
  folder,
  reserveBytes: 0,
  isShared: false,
  nodeId: 'main',
  clock: systemClock,
  random: systemRandom,
});
const whole = content(1_000_003);
let number = Number(round) * 1_000_000;

async function writeForever(): Promise<never> {
  for (;;) {
    number += 1;
    const name = nameOf(number);
    await write(store, name, whole);
    process.stdout.write(`${name}\n`);
  }
}
await Promise.all([writeForever(), writeForever(), writeForever(), writeForever()]);
