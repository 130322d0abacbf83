import { createServer, type IncomingHttpHeaders, request as sendRequest } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen } from './listen.ts';

/** One request that went over the wire, with its answer. */
export interface Exchange {
  method: string;
  /** As it was sent: not decoded, with prefix and query. */
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  status: number;
  responseBody: string;
}

/** A proxy in front of an upstream that keeps everything that goes through. */
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
    const forwarded = sendRequest({ hostname, port, method, path, headers, agent: false }, async (answer) => {
      const responseBody = await buffer(answer);
      const status = answer.statusCode ?? 0;
      exchanges.push({ method, path, headers, body: String(body), status, responseBody: String(responseBody) });
      const { connection: _, 'transfer-encoding': __, ...passed } = answer.headers;
      outgoing.writeHead(status, passed).end(responseBody);
    });
    forwarded.on('error', () => outgoing.destroy());
    forwarded.end(body);
  });
  const listening = await listen(server);
  return { url: listening.url, exchanges, [Symbol.asyncDispose]: listening.close };
}
