/** An HTTP proxy that tunnels (CONNECT) and forwards. `hosts` are the names that only it can resolve. */
import { createServer, request as send } from 'node:http';
import { connect } from 'node:net';

export async function startProxy(hosts = {}) {
  let used = 0;
  const targetOf = (url) => {
    const { hostname, port } = new URL(url);
    used += 1;
    return { host: hosts[hostname] ?? hostname, port: Number(port) };
  };
  const server = createServer((request, response) => {
    const { method, headers, url } = request;
    const { pathname, search } = new URL(url);
    const forwarded = send({ ...targetOf(url), method, headers, path: pathname + search }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    request.pipe(forwarded).on('error', () => response.destroy());
    response.on('close', () => forwarded.destroy());
  }).on('connect', ({ url }, socket) => {
    const upstream = connect(targetOf(`http://${url}`), () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on('error', () => socket.destroy());
    socket.on('error', () => upstream.destroy()).on('close', () => upstream.destroy());
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** How many requests and tunnels went through it. */
    get used() {
      return used;
    },
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
