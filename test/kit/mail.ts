/** Mails in an actor's queue, sealed like the test server's own. */
import { createUserSecrets } from '../../actors/identity/user-secrets.ts';
import { type Content, sealContent } from '../../actors/mailer/content.ts';
import type { SealedMail } from '../../actors/mailer/contract.ts';
import { createKeyring } from '../../runtime/keyring.ts';
import { SeededRandom } from './random.ts';

const secrets = createUserSecrets(createKeyring(Buffer.alloc(32, 7)));
const random = new SeededRandom(3);

export const bobsText = 'The text that only Bob may read.';

/** To Bob by default. */
export function sealedMail(
  id: string,
  source: SealedMail['source'] = 'other',
  said: Partial<Content> = {},
): SealedMail {
  const userUuid = '00000000-0000-4000-8000-000000000001';
  const content = { recipient: 'bob@secret.test', subject: 'Only for Bob', text: bobsText, ...said };
  const using = { use: () => secrets, random } as unknown as Parameters<typeof sealContent>[0];
  return { id, source, userUuid, content: sealContent(using, { id, userUuid }, content) };
}
