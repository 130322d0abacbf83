import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen } from './listen.ts';
import { group, workflow } from './records.ts';

/** Upstream that has one group per credential. Every write gives it the next version as its name. */
export interface VersionedUpstream extends AsyncDisposable {
  readonly url: string;
  /** Number of reads and writes so far. */
  readonly calls: { GET: number; PATCH: number };
  /** Returns how the service responds to the next write of a credential. @default 'applied' */
  outcomeOf: (authorization: string) => WriteOutcome;
}

/** Response to a write: `late` breaks the connection, and applies it afterwards; `lost` applies it, and breaks the connection. */
export type WriteOutcome = 'applied' | 'refused' | 'late' | 'lost';

/** Time after which a late write is applied, in milliseconds. */
const LATE_MS = 100;

/** Starts it. Every second response takes a few milliseconds, so that reads and writes overlap. */
export async function startVersionedUpstream(): Promise<VersionedUpstream> {
  const versions = new Map<string, number>();
  const calls = { GET: 0, PATCH: 0 };
  const apply = (authorization: string) => versions.set(authorization, (versions.get(authorization) ?? 0) + 1);
  let answered = 0;

  const server = createServer(async (request, response) => {
    const { method, url = '', headers } = request;
    const { authorization = '' } = headers;
    await buffer(request);
    const outcome = method === 'PATCH' ? upstream.outcomeOf(authorization) : undefined;
    calls[method === 'PATCH' ? 'PATCH' : 'GET'] += 1;
    if (outcome === 'applied' || outcome === 'lost') {
      apply(authorization);
    }
    const shown = group({ _id: 'g1', name: `v${versions.get(authorization) ?? 0}` });
    const isList = url.endsWith('groups');
    const data = isList ? [shown] : url.includes('workflows') ? workflow({ notificationGroup: shown }) : shown;
    const respond = () => {
      if (outcome === 'late') {
        setTimeout(apply, LATE_MS, authorization).unref();
      }
      if (outcome === 'late' || outcome === 'lost') {
        response.destroy();
      } else {
        response.writeHead(outcome === 'refused' ? 429 : 200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ data }));
      }
    };
    answered += 1;
    if (answered % 2 === 0) {
      setTimeout(respond, answered % 7);
    } else {
      respond();
    }
  });
  const { url, close } = await listen(server);
  const upstream: VersionedUpstream = { url, calls, outcomeOf: () => 'applied', [Symbol.asyncDispose]: close };
  return upstream;
}
