/** The ciphertext of public shares: one row for as long as the share can be opened. */
import { table } from '../../runtime/table.ts';

export const shareContentTable = table({
  name: 'share_content',
  columns: { share_uuid: 'uuid', content: 'text?' },
  key: ['share_uuid'],
  large: 'content',
});
