import { keys, type View } from '../../../runtime/command.ts';
import { isUuid } from '../../collection/incoming.ts';
import { isStub, item } from '../../collection/item.ts';
import { fullItem } from '../../collection/item-fields.ts';
import { departingHops } from '../../collection/move/departures.ts';
import { successorOf, whereaboutsPlan } from '../../collection/move/whereabouts.ts';
import { refuse } from '../../reply.ts';
import { User } from '../contract.ts';
import { signedInRead } from '../signed-in.ts';

export const getItem = signedInRead({
  ...User.commands.getItem,
  reads: (view, { uuid }) => ({
    found: keys(item, isUuid(uuid) ? [keyOf(view, uuid)] : []),
    ...whereaboutsPlan(departingHops(view).has(uuid.toLowerCase()) ? [uuid.toLowerCase()] : []),
  }),
  answer: (view, { uuid }, { found, ...whereabouts }) => {
    const row = isUuid(uuid) ? found.get(keyOf(view, uuid)) : undefined;
    const isHere = row !== undefined && !isStub(row) && successorOf(row, whereabouts) === undefined;
    return isHere ? { item: fullItem(row, uuid) } : refuse(404, 'Item not found.');
  },
});

const keyOf = ({ self }: View, uuid: string) => ({ collection: self.id, uuid: uuid.toLowerCase() });
