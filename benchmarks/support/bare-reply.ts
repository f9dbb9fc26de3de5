/**
 * A bare uWebSockets.js server as the yardstick: it reads a body like a sync's, and answers as many bytes. A client of the
 * lane gets a ticket, a socket and an answer to AUTH, without any check.
 */
import { App, type HttpResponse, type us_listen_socket } from '../../gateway/http/uws.ts';

const answering = (body: string) => (response: HttpResponse) => {
  response.onAborted(() => {});
  response.onData((_chunk, isLast) => {
    if (!isLast) return;
    response.cork(() => {
      response.writeHeader('Content-Type', 'application/json').end(body);
    });
  });
};

const authenticated = JSON.stringify({ type: 'AUTHENTICATED', payload: {} });

const app = App();
app.post('/v1/sockets/sync/ticket', answering(JSON.stringify({ data: { ticket: 'x'.repeat(64) } })));
app.post('/*', answering(JSON.stringify({ data: 'x'.repeat(500) })));
app.ws('/*', {
  message: (socket) => {
    socket.send(authenticated);
  },
});
app.get('/*', (response) => {
  response.end('OK');
});
app.listen('127.0.0.1', Number(process.argv[2] ?? 0), (socket: us_listen_socket | false) => {
  if (socket === false) throw new Error('the port is taken');
  console.log('listening');
});
