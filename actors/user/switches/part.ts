/** The dead man's switches of an account (docs/protocol/delivery.md, "Dead man's switches"). */
import { UserSecrets } from '../../identity/user-secrets.ts';
import { AccountSettings } from '../../settings.ts';
import { userPart } from '../hooks.ts';
import { Switches } from './contract.ts';
import { switchMap } from './switch.ts';
import { switchCommands } from './switches.ts';
import {
  forgetSwitches,
  pauseSwitches,
  resumeSwitches,
  switchMailOutcome,
  watchSwitchesTimer,
} from './watch.ts';

export const switches = userPart(Switches, {
  name: 'switches',
  uses: [AccountSettings, UserSecrets],
  slices: [switchMap],
  commands: switchCommands,
  timers: { watchSwitches: watchSwitchesTimer },
  on: {
    accountDeleted: forgetSwitches,
    banned: pauseSwitches,
    unbanned: resumeSwitches,
    mailOutcome: { listener: 'switch', turn: switchMailOutcome },
  },
});
