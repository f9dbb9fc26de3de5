/**
 * The one door to uWebSockets.js. The library takes the limit on a request's header bytes from the environment
 * only, once, when it is loaded; its default of 4 KiB is less than the cookies of a browser with several accounts.
 * More than 100 headers, or more bytes than this, are answered 431 by the library itself.
 */
import type { HttpResponse } from 'uWebSockets.js';
import { loadNativeLibrary } from './native-library.ts';

const headerBytesMax = 32 * 1024;

process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = String(headerBytesMax);

const library = loadNativeLibrary();

export const { App, DISABLED, LIBUS_LISTEN_EXCLUSIVE_PORT, us_listen_socket_close, us_socket_local_port } =
  library;

// Without it every reply names the library and its version.
library._cfg('silent');

export type {
  HttpRequest,
  HttpResponse,
  TemplatedApp,
  us_listen_socket,
  WebSocketBehavior,
} from 'uWebSockets.js';

/**
 * The library drops connections by a clock that cannot be set: ten seconds after a write that its reader did not take,
 * after a resumed read, and for bodies that bring less than 160 KB in that time. Called once a second, this keeps it
 * from striking, so that the limits of this server hold instead. Not for a paused response.
 */
export function windUpLibraryClock(res: HttpResponse): void {
  // Only `resume` resets it, and without a `pause` before it the connection would no longer be read.
  res.pause();
  res.resume();
}
