/** Security keys that do not exist, for addresses that have none: as different from each other as real ones are. */

export interface PseudoCredential {
  /** Base64url, as all clients have it. */
  readonly id: string;
  readonly transports: readonly string[];
}

/** Common kinds of credentials, and how many of sixteen have each. */
const models = [
  { share: 5, idBytes: 20, transports: ['internal', 'hybrid'] },
  { share: 4, idBytes: 16, transports: ['internal', 'hybrid'] },
  { share: 3, idBytes: 32, transports: ['internal'] },
  { share: 2, idBytes: 48, transports: ['nfc', 'usb'] },
  { share: 2, idBytes: 64, transports: ['usb'] },
];

/** One credential, or for some addresses two. `draw` gives 32 bytes for a purpose, always the same. */
export function pseudoCredentials(draw: (what: string) => Buffer): readonly PseudoCredential[] {
  const [number = 0] = draw('number of credentials');
  return number < 192 ? [credential(draw, 'first')] : [credential(draw, 'first'), credential(draw, 'second')];
}

function credential(draw: (what: string) => Buffer, which: string): PseudoCredential {
  const [at = 0] = draw(`model of the ${which} credential`);
  const { idBytes, transports } = modelAt(at % 16);
  const id = Buffer.concat([draw(`${which} credential`), draw(`rest of the ${which} credential`)]);
  return { id: id.subarray(0, idBytes).toString('base64url'), transports };
}

function modelAt(sixteenth: number): (typeof models)[number] {
  let before = 0;
  for (const model of models) {
    before += model.share;
    if (sixteenth < before) return model;
  }
  throw new RangeError(`the shares of all models are ${before} of sixteen`);
}
