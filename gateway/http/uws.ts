/**
 * The only module that loads uWebSockets.js. The library takes the limit on a request's header bytes from the
 * environment only, once, when it is loaded. Its default of 4 KiB is less than the cookies of a browser with several
 * accounts. The library itself answers 431 to more than 100 headers, or to more bytes than this.
 */
import type { HttpResponse } from 'uWebSockets.js';
import { loadNativeLibrary } from './native-library.ts';

const headerBytesMax = 32 * 1024;

process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = String(headerBytesMax);

const library = loadNativeLibrary();

export const { App, DISABLED, LIBUS_LISTEN_EXCLUSIVE_PORT, us_listen_socket_close, us_socket_local_port } =
  library;

// Otherwise every reply would name the library and its version.
library._cfg('silent');

export type {
  HttpRequest,
  HttpResponse,
  TemplatedApp,
  us_listen_socket,
  WebSocketBehavior,
} from 'uWebSockets.js';

/**
 * The library drops connections by a clock that cannot be configured. It runs for ten seconds after a write that its reader did
 * not take, and after a resumed read. It also drops bodies that bring less than 160 KB in that time. A call once a second stops
 * that clock, so that the limits of this server hold instead. Do not call it for a paused response.
 */
export function resetIdleTimer(res: HttpResponse): void {
  // Only `resume` resets the clock. Without a `pause` before it, the library would stop reading the connection.
  res.pause();
  res.resume();
}
