/** A bare uWebSockets.js reply as the yardstick: it reads a body like a sync's, and answers as many bytes. */
import { App, type us_listen_socket } from '../../gateway/http/uws.ts';

const body = JSON.stringify({ data: 'x'.repeat(500) });

const app = App();
app.post('/*', (response) => {
  response.onAborted(() => {});
  response.onData((_chunk, isLast) => {
    if (!isLast) return;
    response.cork(() => {
      response.writeHeader('Content-Type', 'application/json').end(body);
    });
  });
});
app.get('/*', (response) => {
  response.end('OK');
});
app.listen('127.0.0.1', Number(process.argv[2] ?? 0), (socket: us_listen_socket | false) => {
  if (socket === false) throw new Error('the port is taken');
  console.log('listening');
});
