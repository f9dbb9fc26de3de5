import { keys, type View } from '../../../runtime/command.ts';
import { isUuid } from '../../collection/incoming.ts';
import { item } from '../../collection/item.ts';
import { fullItem } from '../../collection/item-fields.ts';
import { refuse } from '../../reply.ts';
import { User } from '../contract.ts';
import { signedInRead } from '../signed-in.ts';

export const getItem = signedInRead({
  ...User.commands.getItem,
  reads: (view, { uuid }) => ({ found: keys(item, isUuid(uuid) ? [keyOf(view, uuid)] : []) }),
  answer: (view, { uuid }, { found }) => {
    const row = isUuid(uuid) ? found.get(keyOf(view, uuid)) : undefined;
    return row === undefined ? refuse(404, 'Item not found.') : { item: fullItem(row, uuid) };
  },
});

const keyOf = ({ self }: View, uuid: string) => ({ collection: self.id, uuid: uuid.toLowerCase() });
