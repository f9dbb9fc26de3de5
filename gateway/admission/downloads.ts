/**
 * The running downloads of this process, by account. Each holds a file of the store open and some memory for as long
 * as its reader takes.
 */
import { OverloadedError } from '../../runtime/errors.ts';
import { Counts } from '../http/counts.ts';

/** Clients run one for each file that they fetch. */
const ofAccountMax = 32;

export class Downloads {
  readonly #byUser = new Counts();

  /** The bytes of `source`, once there is capacity. @throws OverloadedError before the first byte */
  async *counted(
    userUuid: string,
    source: AsyncIterable<Uint8Array>,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    if (this.#byUser.of(userUuid) >= ofAccountMax) throw new OverloadedError('Too many downloads at once.');
    this.#byUser.add(userUuid, 1);
    try {
      yield* source;
    } finally {
      this.#byUser.add(userUuid, -1);
    }
  }
}
