// Starts a proxy that tunnels connections to any host name to one server on this machine.

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { TestCertificate } from './certificates.ts';
import { listen } from './listen.ts';

/** @param certificate certificate of a proxy that is reached with https */
export async function startConnectProxy(target: string, certificate?: TestCertificate) {
  const { hostname, port } = new URL(target);
  const tunnels: { authority: string; headers: IncomingHttpHeaders }[] = [];
  const others: string[] = [];
  const certificates: (string | undefined)[] = [];
  const sockets = new Set<Socket>();
  let received = '';
  const refuse = (request: IncomingMessage, response: ServerResponse) => {
    others.push(`${request.method} ${request.url}`);
    response.writeHead(400).end();
  };
  const server =
    certificate === undefined
      ? createServer(refuse)
      : createTlsServer({ ...certificate, requestCert: true, rejectUnauthorized: false }, refuse);
  server.on('connect', ({ url = '', headers }, client: Socket) => {
    tunnels.push({ authority: url, headers });
    sockets.add(client);
    if (client instanceof TLSSocket) {
      certificates.push(client.getPeerX509Certificate()?.subject);
    }
    client.on('error', () => {});
    if (proxy.behavior === 'silence') {
      return;
    }
    if (proxy.behavior !== 200 && proxy.behavior !== 'surprise') {
      client.end(`HTTP/1.1 ${proxy.behavior} No\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const surprise = proxy.behavior === 'surprise' ? 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}' : '';
    const upstream = connect(Number(port), hostname, () => {
      client.write(`HTTP/1.1 200 Connection established\r\n\r\n${surprise}`);
      upstream.pipe(client);
      client.pipe(upstream);
      client.on('data', (chunk: Buffer) => {
        received += chunk.toString('latin1');
      });
    });
    sockets.add(upstream);
    upstream.on('error', () => {});
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  const { url, close } = await listen(server);
  const scheme = certificate === undefined ? 'http' : 'https';
  const proxy = {
    url: url.replace(/^http/, scheme),
    /** Requests for tunnels, with the host and port that the client asked for. */
    tunnels,
    /** Requests that are not for tunnels. */
    others,
    /** Names in the certificates of clients; undefined for a client without one. */
    certificates,
    /** Everything that clients sent through tunnels, as text. */
    received: () => received,
    /** Response to a request for a tunnel: a status, or `surprise` for one with bytes after its head. */
    behavior: 200 as number | 'surprise' | 'silence',
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) {
        socket.destroy();
      }
      await close();
    },
  };
  return proxy;
}
