/**
 * Services that Postfix asks, in their documented protocols. A policy server says whether it may deliver to a
 * recipient now, like a greylist (SMTPD_POLICY_README). Dovecot says whether a password is right (its auth protocol,
 * version 1.1).
 */
import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { ExecutionContext } from 'ava';

export interface Account {
  readonly user: string;
  readonly password: string;
}

type Teardown = Pick<ExecutionContext, 'teardown'>;

/** Resolves to its port. */
export function startPolicyService(t: Teardown, policy: (recipient: string) => string): Promise<number> {
  return listen(t, (socket) => {
    let recipient = '';
    return (line) => {
      if (line.startsWith('recipient=')) recipient = line.slice('recipient='.length);
      if (line === '') socket.write(`action=${policy(recipient)}\n\n`);
    };
  });
}

/** Resolves to its port. */
export function startPasswordService(t: Teardown, { user, password }: Account): Promise<number> {
  return listen(t, (socket) => {
    const hello = ['VERSION\t1\t1', 'MECH\tPLAIN\tplaintext', 'SPID\t1', 'CUID\t1', 'COOKIE\t00', 'DONE'];
    socket.write(hello.map((line) => `${line}\n`).join(''));
    return (line) => {
      const [command, id, , ...parameters] = line.split('\t');
      if (command !== 'AUTH') return;
      const said = parameters.find((each) => each.startsWith('resp='))?.slice('resp='.length) ?? '';
      const isRight = Buffer.from(said, 'base64').toString('utf8') === `\0${user}\0${password}`;
      socket.write(isRight ? `OK\t${id}\tuser=${user}\n` : `FAIL\t${id}\n`);
    };
  });
}

async function listen(t: Teardown, talk: (socket: Socket) => (line: string) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    // Postfix closes without a message.
    socket.on('error', () => socket.destroy());
    createInterface({ input: socket }).on('line', talk(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the service has no port');
  return address.port;
}
