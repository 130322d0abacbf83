import { createServer, request as sendRequest } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen } from './listen.ts';

/** Fault of a service. The request is forwarded only by those with `after`, whose response is lost. */
export type Fault = 'unavailable' | 'disconnect before' | 'disconnect after' | 'silence after' | 'rate limit';

/** Proxy in front of an upstream, with faults. */
export interface FaultyProxy extends AsyncDisposable {
  readonly url: string;
  /** Faults so far. */
  readonly faults: readonly Fault[];
  /** Resolves when so many requests have arrived. */
  received(count: number): Promise<void>;
}

/**
 * Starts the proxy.
 *
 * @param faultOf returns the fault of a request; undefined for none
 */
export async function startFaultyProxy(
  target: string,
  faultOf: (request: { method: string }) => Fault | undefined,
): Promise<FaultyProxy> {
  const { hostname, port } = new URL(target);
  const faults: Fault[] = [];
  const waiting = new Map<number, () => void>();
  let count = 0;

  const server = createServer(async (incoming, outgoing) => {
    const { method = '', url: path = '', headers } = incoming;
    const body = await buffer(incoming);
    count += 1;
    waiting.get(count)?.();
    const fault = faultOf({ method });
    if (fault !== undefined) {
      faults.push(fault);
    }
    if (fault === 'unavailable') {
      outgoing.writeHead(503).end();
      return;
    }
    if (fault === 'rate limit') {
      outgoing.writeHead(429, { 'retry-after': '1' }).end();
      return;
    }
    if (fault === 'disconnect before') {
      outgoing.destroy();
      return;
    }
    const forwarded = sendRequest({ hostname, port, method, path, headers, agent: false }, async (response) => {
      const responseBody = await buffer(response);
      if (fault === 'disconnect after') {
        outgoing.destroy();
      } else if (fault === undefined) {
        const { connection: _, 'transfer-encoding': __, ...passed } = response.headers;
        outgoing.writeHead(response.statusCode ?? 0, passed).end(responseBody);
      }
    });
    forwarded.on('error', () => outgoing.destroy());
    forwarded.end(body);
  });
  const listening = await listen(server);
  return {
    url: listening.url,
    faults,
    received: (expected) =>
      count >= expected ? Promise.resolve() : new Promise((resolve) => waiting.set(expected, resolve)),
    [Symbol.asyncDispose]: listening.close,
  };
}
