import type { IncomingMessage, RequestListener } from 'node:http';

/** Adapts a Fetch handler to `node:http`, as a framework that mounts `gateway.fetch` would. */
export const fetchListener =
  (handle: (request: Request) => Promise<Response>): RequestListener =>
  async (incoming, outgoing) => {
    const { method = '', headers, url = '' } = incoming;
    const disconnected = new AbortController();
    outgoing.once('close', () => outgoing.writableFinished || disconnected.abort());
    const init: RequestInit & { duplex: 'half' } = {
      method,
      headers: Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]),
      signal: disconnected.signal,
      body: method === 'GET' || method === 'HEAD' ? null : streamOf(incoming),
      duplex: 'half',
    };
    const response = await handle(new Request(new URL(url, 'http://gateway.example'), init));
    const body = Buffer.from(await response.arrayBuffer());
    outgoing.writeHead(response.status, {
      ...Object.fromEntries(response.headers),
      ...(response.status !== 204 && { 'content-length': body.byteLength }),
    });
    outgoing.end(body);
  };

function streamOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  let isCancelled = false; // The rest of the body arrives all the same.
  return new ReadableStream({
    start(controller) {
      incoming.on('data', (chunk: Buffer) => isCancelled || controller.enqueue(new Uint8Array(chunk)));
      incoming.once('end', () => isCancelled || controller.close());
      incoming.once('error', (error) => controller.error(error));
    },
    cancel() {
      isCancelled = true;
    },
  });
}
