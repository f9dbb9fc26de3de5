/**
 * Checks the secret that a calendar program shows with its token (docs/protocol/calendar.md, "Calendar tokens"). The `signin` actor
 * that counts the failures of this token runs the check:
 *
 *     begin   is its network locked? Counts the attempt as failed
 *     hash    outside any turn; for an unknown token with a salt that belongs to no token
 *     prove   the account compares, and remembers a right secret
 *     accept  gives all attempts back. Otherwise interrupted attempts would add up, as a program asks each minute for years
 */
import { workflow } from '../../runtime/command.ts';
import { unlessAbsent } from '../../runtime/handles.ts';
import { CalendarTokenHasher } from '../identity/calendar-tokens.ts';
import { keyOfUnknown } from '../identity/password-hasher.ts';
import { secretHashOf } from '../identity/shown-once.ts';
import { refuse } from '../reply.ts';
import { UserCalendar } from '../user/calendar/contract.ts';
import { Signin } from './contract.ts';
import { countedAttempt } from './counted-attempt.ts';
import { forgetAttempts } from './counting.ts';

const wrong = refuse.unauthenticated('This is not a calendar token.');
const dummySalt = '00'.repeat(16);

export const proveCalendarToken = workflow(Signin.commands.proveCalendarToken, {
  creates: true,
  run: async (steps, { userUuid, tokenUuid, secret, device }) => {
    const refused = await steps.turn({
      recorded: true,
      turn: (turn) => countedAttempt(turn, device),
    });
    if (refused !== undefined) return refused;
    const { ask } = steps.actors.get(UserCalendar, userUuid);
    const named = await unlessAbsent(ask.calendarTokenSalt({ tokenUuid }));
    const key = keyOfUnknown(device.ipAddress);
    const slowHash = await steps.use(CalendarTokenHasher).hash(secret, named?.salt ?? dummySalt, key);
    const found = await unlessAbsent(
      ask.proveCalendarToken({ tokenUuid, secretHash: secretHashOf(secret), slowHash }),
    );
    if (found?.proven !== true) return wrong;
    await steps.turn({ turn: (turn) => forgetAttempts(turn) });
    return { ok: {} };
  },
});
