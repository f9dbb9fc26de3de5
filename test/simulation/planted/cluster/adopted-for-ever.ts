import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'adopted-for-ever',
  why: 'Adopted shards do not go back to their host though it has started again.',
  flavour: 'crashy',
  from: 1_325,
  edits: [
    {
      file: 'runtime/ownership/membership.ts',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: source text
      find: '`${id} ${incarnation} ${formats}`',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: source text
      replace: '`${id} ${incarnation?.length} ${formats}`',
    },
  ],
};
