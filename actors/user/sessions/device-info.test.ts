import test from 'ava';
import { deviceInfo } from './device-info.ts';

const agents: readonly [expected: string, agent: string | null][] = [
  ['Unknown Client on Unknown OS', null],
  ['Unknown Client on Unknown OS', 'curl/8.0'],
  ['Android', 'okhttp/4.9.2'],
  [
    'Chrome 120.0.0.0 on Windows 10.0',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36',
  ],
  [
    'Edge 119.0.2151.97 on Mac OS 10.15.7',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/119.0.0.0 Safari/537.36 Edg/119.0.2151.97',
  ],
  ['Firefox 121.0 on Linux', 'Mozilla/5.0 (X11; Linux x86_64; rv:121.0) Gecko/20100101 Firefox/121.0'],
  [
    'Safari 17.1 on iOS 17.1.2',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_1_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.1 Mobile/15E148 Safari/604.1',
  ],
  [
    'Chrome 120.0.0.0 on Android 14',
    'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile Safari/537.36',
  ],
  [
    'Standard Notes Desktop 3.183.2 on Mac OS 10.15.7',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) StandardNotes/3.183.2 Chrome/116.0.0.0 Electron/26.0 Safari/537.36',
  ],
];

for (const [expected, agent] of agents) {
  test(`${expected} is read from ${agent?.slice(-40) ?? 'no user agent'}`, (t) => {
    t.is(deviceInfo(agent), expected);
  });
}
