/** A mail server for tests: aiosmtpd in a separate process (`smtp-server.py` says how it treats each mail). */
import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import { findOrMakeAiosmtpd } from '../../tools/programs.ts';
import type { Issued } from './certificates.ts';
import { endWithTests } from './child.ts';

export interface SmtpServerOptions {
  readonly port?: number;
  readonly certificate?: Issued;
  readonly implicit?: boolean;
  readonly user?: string;
  readonly password?: string;
  /** Takes a whole envelope at once, as most relays do. */
  readonly pipelining?: boolean;
  /** Bytes of a mail, at most, which it announces. */
  readonly sizeMax?: number;
  /** Refuses no recipient. */
  readonly takesAll?: boolean;
  /** Accepts connections and says nothing. */
  readonly hang?: boolean;
}

export interface ReceivedMessage {
  readonly sender: string;
  readonly recipients: readonly string[];
  readonly tls: boolean;
  readonly user: string | null;
  readonly text: string;
  /** When all of it had arrived. */
  readonly atMs: number;
  /** The port that it came from. */
  readonly connection: number;
}

export interface SmtpServer {
  readonly port: number;
  /** All complete mails, also unanswered ones. */
  readonly received: readonly ReceivedMessage[];
  /** Resolves to the first mails, once this many have come. */
  messages(count: number): Promise<readonly ReceivedMessage[]>;
  stop(): Promise<void>;
}

const script = fileURLToPath(new URL('./smtp-server.py', import.meta.url));

export async function startSmtpServer(
  t: Pick<ExecutionContext, 'teardown'>,
  options: SmtpServerOptions = {},
): Promise<SmtpServer> {
  const python = findOrMakeAiosmtpd(process.env);
  const child = spawn(python, [script, ...argumentsOf(options)], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = endWithTests(child);
  const errors: string[] = [];
  child.stderr.on('data', (chunk) => errors.push(String(chunk)));
  const received: ReceivedMessage[] = [];
  const arrivals = new EventEmitter();
  const port = await new Promise<number>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`the mail server has ended: ${errors.join('')}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { event, ...fields } = JSON.parse(line);
      if (event === 'listening') resolve(fields.port);
      else received.push(fields);
      arrivals.emit('message');
    });
  });
  const stop = () => {
    child.kill('SIGKILL');
    return ended;
  };
  t.teardown(stop);
  const messages = async (count: number) => {
    while (received.length < count) await once(arrivals, 'message');
    return received.slice(0, count);
  };
  return { port, received, messages, stop };
}

function argumentsOf(options: SmtpServerOptions): string[] {
  const { port, certificate, implicit, user, password, pipelining, sizeMax, takesAll, hang } = options;
  return [
    ...(port === undefined ? [] : ['--port', String(port)]),
    ...(certificate === undefined ? [] : ['--certificate', certificate.cert, '--key', certificate.key]),
    ...(implicit ? ['--implicit'] : []),
    ...(user === undefined ? [] : ['--user', user, '--password', password ?? '']),
    ...(pipelining ? ['--pipelining'] : []),
    ...(sizeMax === undefined ? [] : ['--size-max', String(sizeMax)]),
    ...(takesAll ? ['--takes-all'] : []),
    ...(hang ? ['--hang'] : []),
  ];
}
