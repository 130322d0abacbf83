import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen } from './listen.ts';
import type { Exchange } from './recorder.ts';

export type ScriptedRequest = Pick<Exchange, 'method' | 'path' | 'headers' | 'body'>;

/** Response of the upstream; a body that is an object is sent as JSON. */
export interface ScriptedResponse {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
}

/** Returns the response to a request. `taken over` means that the script writes the response itself. */
export type Script = (
  request: ScriptedRequest,
  raw: { request: IncomingMessage; response: ServerResponse },
) => ScriptedResponse | 'taken over' | Promise<ScriptedResponse | 'taken over'>;

/** Upstream that responds as scripted and records its requests. */
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
    const response = await script(request, { request: incoming, response: outgoing });
    if (response === 'taken over') {
      return;
    }
    const { status = 200, headers: extra = {}, body } = response;
    const isText = typeof body === 'string';
    outgoing.writeHead(status, { 'content-type': 'application/json', ...extra });
    outgoing.end(body === undefined ? undefined : isText ? body : JSON.stringify(body));
  });
  const listening = await listen(server);
  return { url: listening.url, requests, [Symbol.asyncDispose]: listening.close };
}
