import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen } from './listen.ts';
import type { Exchange } from './recorder.ts';

export type ScriptedRequest = Pick<Exchange, 'method' | 'path' | 'headers' | 'body'>;

/** What the upstream answers: a status with a body (an object is sent as JSON), or a function that takes the response over. */
export interface ScriptedAnswer {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
}

export type Script = (
  request: ScriptedRequest,
  raw: { request: IncomingMessage; response: ServerResponse },
) => ScriptedAnswer | 'taken over' | Promise<ScriptedAnswer | 'taken over'>;

/** An upstream that answers what a test says and remembers what it was asked. */
export interface ScriptedUpstream extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly ScriptedRequest[];
}

export async function startScriptedUpstream(script: Script): Promise<ScriptedUpstream> {
  const requests: ScriptedRequest[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const { method = '', url: path = '', headers } = incoming;
    const request = { method, path, headers, body: String(await buffer(incoming)) };
    requests.push(request);
    const answer = await script(request, { request: incoming, response: outgoing });
    if (answer === 'taken over') {
      return;
    }
    const { status = 200, headers: extra = {}, body } = answer;
    const isText = typeof body === 'string';
    outgoing.writeHead(status, { 'content-type': 'application/json', ...extra });
    outgoing.end(body === undefined ? undefined : isText ? body : JSON.stringify(body));
  });
  const listening = await listen(server);
  return { url: listening.url, requests, [Symbol.asyncDispose]: listening.close };
}
