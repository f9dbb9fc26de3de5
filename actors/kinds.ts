/** The one list of kinds: what hosts run, what operators may name, and which tables there are follow from it. */
import type { Kind } from '../runtime/kind.ts';
import type { AnyTable } from '../runtime/table.ts';
import { mailer } from './mailer/mailer.ts';
import { share } from './share/share.ts';
import { signin } from './signin/signin.ts';
import { user } from './user/user.ts';

export const kinds: readonly Kind[] = [user, signin, mailer, share];

export const tables: readonly AnyTable[] = kinds.flatMap((kind) => kind.tables);
