import { createServer, type IncomingHttpHeaders, request as sendRequest } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen } from './listen.ts';

/** Request and response, as sent over the wire. */
export interface Exchange {
  method: string;
  /** Path as sent: not decoded, with prefix and query. */
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  status: number;
  responseBody: string;
}

/** Proxy in front of an upstream that records all requests and responses. */
export interface Recorder extends AsyncDisposable {
  readonly url: string;
  readonly exchanges: readonly Exchange[];
}

export async function startRecorder(target: string): Promise<Recorder> {
  const { hostname, port } = new URL(target);
  const exchanges: Exchange[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const { method = '', url: path = '', headers } = incoming;
    const body = await buffer(incoming);
    const forwarded = sendRequest({ hostname, port, method, path, headers, agent: false }, async (response) => {
      const responseBody = await buffer(response);
      const status = response.statusCode ?? 0;
      exchanges.push({ method, path, headers, body: String(body), status, responseBody: String(responseBody) });
      const { connection: _, 'transfer-encoding': __, ...passed } = response.headers;
      outgoing.writeHead(status, passed).end(responseBody);
    });
    forwarded.on('error', () => outgoing.destroy());
    forwarded.end(body);
  });
  const listening = await listen(server);
  return { url: listening.url, exchanges, [Symbol.asyncDispose]: listening.close };
}
