import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'workflow-slot-leaked',
  why: 'A call of several steps that fails keeps its slot for ever.',
  edits: [
    {
      file: 'runtime/host/workflows.ts',
      find: '      return await run(this.#workflow(call, creates, dependencies, progress));',
      replace:
        '      const result = await run(this.#workflow(call, creates, dependencies, progress));\n      this.#inFlight -= 1;\n      return result;',
    },
    {
      file: 'runtime/host/workflows.ts',
      find: '    } finally {\n      this.#inFlight -= 1;\n    }',
      replace: '    }',
    },
  ],
};
