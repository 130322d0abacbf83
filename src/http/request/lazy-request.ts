// Gives the plugins of the engine a Fetch `Request`, built only for those that read it.

import type { IncomingRequest } from '../message.ts';

/**
 * Returns a Fetch `Request` that is built when a plugin first reads anything but its method. Building one costs as much as a pipeline step,
 * and Yoga itself reads only the method. An accessor of each context would take 1 KB more.
 */
export const lazyRequest = (incoming: IncomingRequest): Request => new Proxy(Request.prototype, new Handler(incoming));

/** Proxy handler that reads from the request and never from the proxy's target. */
class Handler implements ProxyHandler<Request> {
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
