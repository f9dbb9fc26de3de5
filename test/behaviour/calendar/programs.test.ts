/** Common calendar programs, against one server. */
import test from 'ava';
import { makeToken, publisher, startCalendarServer } from '../../kit/calendar.ts';
import { calendarPrograms } from '../../kit/calendar-programs.ts';

for (const [what, sees] of Object.entries(calendarPrograms)) {
  test(what, async (t) => {
    const server = await startCalendarServer(t);
    const phone = await publisher(server);
    const { token } = await makeToken(phone);
    await sees(t, { url: server.url, phone, token });
  });
}
