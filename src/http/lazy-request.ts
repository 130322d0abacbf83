import type { IncomingRequest } from './request.ts';

/** Backs the proxy below. */
class Pending {
  readonly incoming: IncomingRequest;
  #request: Request | undefined;

  constructor(incoming: IncomingRequest) {
    this.incoming = incoming;
  }

  get request(): Request {
    this.#request ??= this.incoming.toFetchRequest();
    return this.#request;
  }
}

const HANDLER: ProxyHandler<Pending> = {
  get(pending, name) {
    if (name === 'method') {
      return pending.incoming.method;
    }
    const { request } = pending;
    const value: unknown = Reflect.get(request, name, request);
    return typeof value === 'function' ? value.bind(request) : value;
  },
  has: ({ request }, name) => Reflect.has(request, name),
  getPrototypeOf: () => Request.prototype,
};

/**
 * Returns a Fetch `Request` that is built when a plugin first reads more of it than its method: building one costs as much as a
 * pipeline step, and Yoga itself reads the method of every request.
 */
export function lazyRequest(incoming: IncomingRequest): Request {
  const proxy: unknown = new Proxy(new Pending(incoming), HANDLER);
  if (!(proxy instanceof Request)) {
    throw new TypeError('The proxy does not pass for a Request.');
  }
  return proxy;
}
