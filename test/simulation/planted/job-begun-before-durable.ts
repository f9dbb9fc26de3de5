import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'job-begun-before-durable',
  why: 'A run begins when the commit of its start is sent, so a crash leaves work that nobody asked for.',
  edits: [
    {
      file: 'runtime/actor/actor.ts',
      find: '    const pending = this.#gate.launch(commitId);\n',
      replace:
        '    const pending = this.#gate.launch(commitId);\n    this.#env.jobsCommitted(this.address, this.#jobsOf(pending));\n',
    },
  ],
};
