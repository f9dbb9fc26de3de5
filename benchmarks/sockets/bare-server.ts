/**
 * What the library and the kernel alone need for a client that arrives: a ticket, an upgrade, an answer to AUTH. Nothing is
 * checked and nothing is kept. It also answers syncs, with a fixed text.
 */
import { App, type us_listen_socket } from '../../gateway/http/uws.ts';

const ticket = JSON.stringify({ data: { ticket: 'x'.repeat(64) } });
const sync = JSON.stringify({ data: 'x'.repeat(500) });
const authenticated = JSON.stringify({ type: 'AUTHENTICATED', payload: {} });

const app = App();
app.post('/*', (response, request) => {
  const body = request.getUrl() === '/v1/items' ? sync : ticket;
  response.onAborted(() => {});
  response.onData((_chunk, isLast) => {
    if (!isLast) return;
    response.cork(() => {
      response.writeHeader('Content-Type', 'application/json').end(body);
    });
  });
});
app.ws('/*', {
  message: (socket) => {
    socket.send(authenticated);
  },
});
app.listen('127.0.0.1', Number(process.argv[2] ?? 0), (socket: us_listen_socket | false) => {
  if (socket === false) throw new Error('the port is taken');
  console.log('listening');
});
