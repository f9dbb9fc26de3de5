import type { PlantedBug } from '../../plant.ts';

export const bug: PlantedBug = {
  name: 'repeat-under-new-call-id',
  why: 'A call is repeated as another call.',
  flavour: 'partitioned',
  edits: [
    {
      file: 'runtime/host/actors.ts',
      find: '        return await transport.ask(call);\n',
      replace: '        return await transport.ask({ ...call, callId: this.#options.random.uuid() });\n',
    },
  ],
};
