/**
 * The `instance` kind. It exists once an operator or administrator has decided something. Until then only the configuration counts.
 */
import { z } from 'zod';
import { command, sharedRead, tell } from '../../runtime/command.ts';
import { kindOf } from '../../runtime/kind.ts';
import { slice } from '../../runtime/slice.ts';
import { Instance } from './contract.ts';

const registrationSlice = slice<{ readonly disabled: boolean }>({
  name: 'registration',
  schema: z.object({ disabled: z.boolean() }),
  initial: { disabled: false },
});

const importedPasswordsSlice = slice<{ readonly left: number }>({
  name: 'imported-passwords',
  schema: z.object({ left: z.int() }),
  initial: { left: 0 },
});

export const instance = kindOf(Instance, {
  uses: [],
  slices: [registrationSlice, importedPasswordsSlice],
  tables: [],
  commands: {
    registration: sharedRead(Instance.commands.registration, (view) => view.get(registrationSlice)),
    setRegistration: command(Instance.commands.setRegistration, {
      creates: true,
      turn: (turn, { disabled }) => {
        turn.set(registrationSlice, { disabled });
        return { disabled };
      },
    }),
    importedPasswords: sharedRead(Instance.commands.importedPasswords, (view) =>
      view.get(importedPasswordsSlice),
    ),
  },
  tells: {
    importedPasswords: tell(Instance.tells.importedPasswords, {
      creates: true,
      turn: (turn, { by }) =>
        turn.set(importedPasswordsSlice, { left: turn.get(importedPasswordsSlice).left + by }),
    }),
  },
  timers: {},
});
