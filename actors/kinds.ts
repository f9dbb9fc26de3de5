/** The one list of kinds: what hosts run, what operators may name, and which tables there are follow from it. */
import type { Kind } from '../runtime/kind.ts';
import type { AnyTable } from '../runtime/table.ts';
import { calendar } from './calendar/calendar.ts';
import { instance } from './instance/instance.ts';
import { mailer } from './mailer/mailer.ts';
import { pairing } from './pairing/pairing.ts';
import { share } from './share/share.ts';
import { signin } from './signin/signin.ts';
import { sweeper } from './sweeper/sweeper.ts';
import { user } from './user/user.ts';
import { vault } from './vault/vault.ts';

export const kinds: readonly Kind[] = [
  user,
  signin,
  mailer,
  share,
  instance,
  sweeper,
  vault,
  calendar,
  pairing,
];

export const tables: readonly AnyTable[] = [...new Set(kinds.flatMap((kind) => kind.tables))];
