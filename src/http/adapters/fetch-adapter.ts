// Connects the gateway to hosts that use the Fetch API, and gives plugins a Fetch `Request`.

import { bodyTooLarge } from '../../errors/codes.ts';
import { type HandleRequest, type IncomingRequest, type RunningRequests, schemeOf } from '../message.ts';
import { bodyAlreadyRead, decodeBody, requestAborted } from '../params.ts';

/** Origin of addresses without one. It is no other upstream's, and known as that of this machine. */
const LOCAL_ORIGIN = 'http://localhost';

/** Creates the function for hosts. Called with an address, as by a client in the same process, it does what the global `fetch` does. */
export const createFetchHandler =
  (handle: HandleRequest, running: RunningRequests) =>
  async (input: Request | URL | string, init?: RequestInit): Promise<Response> => {
    const isAddress = typeof input === 'string' || 'href' in input;
    const request = isAddress ? new Request(new URL(input, LOCAL_ORIGIN), init) : input;
    const client = isAddress ? request.signal : undefined;
    const incoming = new FetchRequest(request);
    running.enter();
    try {
      const { status, headers, body } = await handle(incoming);
      client?.throwIfAborted();
      return new Response(body, { status, headers });
    } finally {
      running.leave();
    }
  };

class FetchRequest implements IncomingRequest {
  readonly source: Request;
  readonly target: string;
  readonly remoteAddress = undefined;

  constructor(request: Request) {
    this.source = request;
    const { pathname, search } = new URL(request.url);
    this.target = pathname + search;
  }

  get scheme(): 'http' | 'https' {
    return schemeOf(this.source.url.startsWith('https:'), this);
  }

  get host(): string {
    return new URL(this.source.url).host;
  }

  get method(): string {
    return this.source.method;
  }

  get signal(): AbortSignal {
    return this.source.signal;
  }

  /** Leaves it to the host to encode contents: Next.js removes the header `content-encoding` of responses. */
  header(name: string): string | undefined {
    return name === 'accept-encoding' ? undefined : (this.source.headers.get(name) ?? undefined);
  }

  async body(maxBytes: number): Promise<string> {
    if (this.source.bodyUsed || this.source.body?.locked === true) {
      throw bodyAlreadyRead();
    }
    const chunks: Uint8Array[] = [];
    let size = 0;
    try {
      const reader = this.source.body?.getReader();
      for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
        size += part.value.byteLength;
        if (size > maxBytes) {
          await reader?.cancel();
          throw bodyTooLarge(maxBytes);
        }
        chunks.push(part.value);
      }
    } catch (error) {
      throw this.signal.aborted ? requestAborted() : error;
    }
    return decodeBody(Buffer.concat(chunks, size));
  }

  toFetchRequest(): Request {
    return this.source;
  }
}

/**
 * Returns a Fetch `Request` that is built when a plugin first reads anything but its method. Building one costs as much as a pipeline step,
 * and Yoga itself reads only the method. An accessor of each context would take 1 KB more.
 */
export const lazyRequest = (incoming: IncomingRequest): Request =>
  new Proxy(Request.prototype, new LazyRequest(incoming));

/** Proxy handler that reads from the request and never from the proxy's target. */
class LazyRequest implements ProxyHandler<Request> {
  readonly #incoming: IncomingRequest;
  #request: Request | undefined;

  constructor(incoming: IncomingRequest) {
    this.#incoming = incoming;
  }

  get(_target: Request, name: string | symbol): unknown {
    if (name === 'method') {
      return this.#incoming.method;
    }
    const request = this.#build();
    const value: unknown = Reflect.get(request, name, request);
    return typeof value === 'function' ? value.bind(request) : value;
  }

  has(_target: Request, name: string | symbol): boolean {
    return Reflect.has(this.#build(), name);
  }

  getPrototypeOf(): object {
    return Request.prototype;
  }

  #build(): Request {
    this.#request ??= this.#incoming.toFetchRequest();
    return this.#request;
  }
}
