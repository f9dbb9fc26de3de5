/** For routes that no test calls: no provider of the assistant, and no code host. */
import { Assistant } from '../../gateway/assistant/assistant.ts';
import { CodeHost } from '../../gateway/code-host/code-host.ts';
import { systemClock } from '../../runtime/clock.ts';

const nobody = async (): Promise<never> => {
  throw new Error('nobody is asked');
};
const http = { send: nobody, open: nobody };

export const assistantOf = ({ streamsMax }: { readonly streamsMax: number }): Assistant =>
  new Assistant({ http, clock: systemClock, providers: new Map(), default: undefined, streamsMax });

export const noProviders = {
  assistant: assistantOf({ streamsMax: 1 }),
  codeHost: new CodeHost({ http, apiUrl: 'http://nowhere.test' }),
};
