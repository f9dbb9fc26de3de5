/** Whom the mail queue tells what became of a mail: this actor, and which of its parts. */
import type { View } from '../../runtime/command.ts';
import type { SealedMail } from '../mailer/contract.ts';
import { User } from './contract.ts';

export function listenerFor(view: View, part: string, uuid: string, round: number): SealedMail['listener'] {
  return { kind: User.name, id: view.self.id, key: `${part}/${uuid}/${round}` };
}

export interface ListeningPart {
  readonly part: string;
  readonly uuid: string;
  readonly round: number;
}

export function listeningPart(key: string): ListeningPart {
  const [part = '', uuid = '', round = ''] = key.split('/');
  return { part, uuid, round: Number(round) };
}
