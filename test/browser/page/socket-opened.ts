/** The client does not say when its socket is open, and nothing reaches it before. */
const limitMs = 10_000;

/** Resolves once the socket that this dials is open. @throws Error if it has not opened in time */
export async function socketOpened(dial: () => Promise<unknown>): Promise<void> {
  const Native = globalThis.WebSocket;
  const opened = new Promise<void>((resolve, reject) => {
    setTimeout(() => reject(new Error('The socket has not opened.')), limitMs);
    globalThis.WebSocket = class extends Native {
      constructor(...dialled: ConstructorParameters<typeof WebSocket>) {
        super(...dialled);
        this.addEventListener('open', () => resolve());
      }
    };
  });
  try {
    await Promise.all([dial(), opened]);
  } finally {
    globalThis.WebSocket = Native;
  }
}
