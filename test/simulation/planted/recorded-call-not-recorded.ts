import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'recorded-call-not-recorded',
  why: 'The reply of a call that must not take effect twice is not kept.',
  edits: [
    {
      file: 'runtime/actor/message.ts',
      find: '      if (!isEmpty(turn.recorded)) {',
      replace: '      if (!isEmpty(turn.recorded) && turn.nowMs < 0) {',
    },
  ],
};
