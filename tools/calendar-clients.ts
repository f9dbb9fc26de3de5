/** Calendar programs of the tests: the client library caldav, and vdirsyncer with todoman, in Python. */
import type { Environment } from './program.ts';
import { findOrMakePython } from './python.ts';

const calendarClients = {
  name: 'calendar-clients',
  version: '1',
  packages: [
    'aiohappyeyeballs==2.7.1',
    'aiohttp==3.14.5',
    'aiosignal==1.4.0',
    'aiostream==0.7.2',
    'attrs==26.1.0',
    'caldav==3.6.0',
    'calendaring-config==0.5.0',
    'certifi==2026.10.18',
    'charset-normalizer==3.5.2',
    'click==8.5.1',
    'click-log==0.4.0',
    'dnspython==2.9.2',
    'frozenlist==1.8.0',
    'h11==0.16.0',
    'humanize==4.17.0',
    'icalendar==7.3.0',
    'icalendar-searcher==1.3.0',
    'idna==3.20',
    'jh2==5.0.15',
    'lxml==6.1.3',
    'multidict==7.2.1',
    'niquests==3.21.2',
    'parsedatetime==2.6',
    'propcache==0.5.4',
    'python-dateutil==2.9.0.post0',
    'pyxdg==0.28',
    'PyYAML==6.0.3',
    'qh3==2.1.0',
    'recurring-ical-events==3.8.2',
    'requests==2.34.2',
    'six==1.17.0',
    'tenacity==9.2.1',
    'todoman==4.7.0',
    'typing_extensions==4.16.0',
    'tzdata==2026.6',
    'urllib3==2.8.0',
    'urllib3-future==2.25.904',
    'urwid==5.1.0',
    'vdirsyncer==0.21.0',
    'wassima==2.1.5',
    'wcwidth==0.9.4',
    'x-wr-timezone==2.0.1',
    'yarl==1.25.1',
  ],
};

/** The Python that has them. @throws Error, one line, if they cannot be installed */
export const findOrMakeCalendarClients = (environment: Environment): string =>
  findOrMakePython(calendarClients, environment);
