// Connects the gateway to `node:http`, the same interface of `node:http2`, and frameworks based on them.

import { bodyTooLarge } from '../../errors/codes.ts';
import { memoize } from '../../lib/memoize.ts';
import { Abort } from '../../lib/signal.ts';
import { MAX_HOSTS } from '../head.ts';
import {
  type HandleRequest,
  type IncomingRequest,
  type NodeMessage,
  type NodeReply,
  type OutgoingResponse,
  type RunningRequests,
  schemeOf,
} from '../message.ts';
import { bodyAlreadyRead, decodeBody, requestAborted, toBytes } from '../params.ts';

export function createListener(handle: HandleRequest, running: RunningRequests) {
  const isValidHost = createHostCheck();
  return (request: NodeMessage, response: NodeReply): void => {
    const incoming = new NodeRequest(request, isValidHost);
    response.once('close', () => {
      if (!response.writableEnded) {
        incoming.signal.abort();
      }
    });
    running.enter();
    void handle(incoming).then(
      (outgoing) => {
        running.leave();
        write(response, outgoing);
      },
      () => {
        running.leave();
        response.destroy(); // The host's logger has thrown, so that there is neither a response nor a log line.
      },
    );
  };
}

/** Creates the function that reads something from a request without answering it. */
export function createRequestReader<Result>(read: (request: IncomingRequest) => Result) {
  const isValidHost = createHostCheck();
  return (request: NodeMessage): Result => read(new NodeRequest(request, isValidHost));
}

class NodeRequest implements IncomingRequest {
  readonly source: NodeMessage;
  readonly #url: string;
  /** Host in the headers. In HTTP/2, it is `:authority`, which `Host` may only repeat (RFC 9113, 8.3.1). */
  readonly #host: string | undefined;
  readonly signal = new Abort();
  readonly method: string;
  readonly target: string | undefined;
  readonly problem: string | undefined;

  constructor(request: NodeMessage, isValidHost: (host: string | undefined) => boolean) {
    const { method = '', headers } = request;
    this.source = request;
    this.method = method;
    this.#url = urlOf(request);
    this.#host = this.header(':authority') ?? headers.host;
    const duplicate = findDuplicateHeader(request.rawHeaders);
    this.problem = duplicate && `The ${duplicate} header occurs more than once. Send it once.`;
    const isOneHost = (headers.host ?? this.#host) === this.#host;
    this.target = duplicate === undefined && isOneHost && isValidHost(this.#host) ? originForm(this.#url) : undefined;
  }

  get scheme(): 'http' | 'https' {
    return schemeOf('encrypted' in this.source.socket, this);
  }

  get host(): string | undefined {
    const url = this.#url;
    return url.startsWith('/') ? this.#host : URL.parse(url)?.host; // An absolute target overrides the header (RFC 9112, 3.2.2).
  }

  get remoteAddress(): string | undefined {
    return this.source.socket.remoteAddress;
  }

  header(name: string): string | undefined {
    return this.source.headers[name]?.toString();
  }

  body(maxBytes: number): Promise<string> {
    const request = this.source;
    return new Promise((resolve, reject) => {
      if (this.signal.aborted) {
        throw requestAborted();
      }
      if (request.readableDidRead || request.readableEnded) {
        resolve(decodeBody(readParsed(request, maxBytes)));
        return;
      }
      const chunks: Buffer[] = [];
      let size = 0;
      request.on('data', (chunk: Buffer) => {
        size += chunk.byteLength;
        if (size > maxBytes) {
          request.pause().removeAllListeners('data');
          reject(bodyTooLarge(maxBytes));
        } else {
          chunks.push(chunk);
        }
      });
      const onAbort = () => reject(requestAborted());
      this.signal.addEventListener('abort', onAbort);
      request.once('end', () => {
        this.signal.removeEventListener('abort', onAbort);
        try {
          resolve(decodeBody(Buffer.concat(chunks)));
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  toFetchRequest(): Request {
    const { host = 'localhost' } = this;
    const headers = new Headers({ host });
    for (const [name, value] of Object.entries(this.source.headers)) {
      if (value !== undefined && !name.startsWith(':')) {
        headers.set(name, value.toString());
      }
    }
    const signal = new AbortController();
    this.signal.addEventListener('abort', () => signal.abort());
    return new Request(`http://${host}${this.target ?? '/'}`, { method: this.method, headers, signal: signal.signal });
  }
}

/** Returns the URL that the client requested. Express shortens `url` to the part below the path at which a listener is mounted. */
const urlOf = (request: NodeMessage): string =>
  'originalUrl' in request && typeof request.originalUrl === 'string' ? request.originalUrl : (request.url ?? '');

function readParsed(request: NodeMessage, maxBytes: number): Buffer {
  if (!request.readableEnded || !('body' in request) || request.body === undefined) {
    throw bodyAlreadyRead();
  }
  const bytes = toBytes(request.body);
  if (bytes.byteLength > maxBytes) {
    throw bodyTooLarge(maxBytes);
  }
  return bytes;
}

/** Returns the path and query of a request target, which can be absolute (RFC 9112, 3.2.2); undefined if it is not a valid URL. */
function originForm(target: string): string | undefined {
  if (target.startsWith('/')) {
    return target; // Also with two slashes, which begin a path here and not a host.
  }
  const url = URL.parse(target);
  return url === null ? undefined : url.pathname + url.search;
}

function write(response: NodeReply, { status, headers, body }: OutgoingResponse): void {
  if (response.destroyed) {
    return; // The client has disconnected.
  }
  if (headers.connection !== undefined && 'stream' in response) {
    const { connection: _, ...others } = headers;
    write(response, { status, headers: others, body }); // In HTTP/2, there is no such header.
    return;
  }
  if (typeof body !== 'string') {
    const hasLength = status !== 204 && status !== 304;
    response.writeHead(status, { ...headers, ...(hasLength && { 'content-length': body?.byteLength ?? 0 }) });
    response.end(body);
    return;
  }
  const length = Buffer.byteLength(body);
  response.writeHead(status, { ...headers, 'content-length': length });
  response.end(body, length === body.length ? 'latin1' : 'utf8'); // ASCII is the same in both encodings; latin1 is copied faster.
}

/** Headers that must occur only once, with their usual spelling. */
const SINGLE_HEADERS = new Map([
  ['host', 'Host'],
  ['content-type', 'Content-Type'],
  ['authorization', 'Authorization'],
]);

/**
 * Returns the name of a header that must occur only once but occurs again. Node.js keeps only the first of them, but a proxy in front may have used the
 * last (RFC 9110, 5.3).
 */
export function findDuplicateHeader(rawHeaders: readonly string[]): string | undefined {
  const found = new Set<string | undefined>();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = SINGLE_HEADERS.get(rawHeaders[i]?.toLowerCase() ?? '');
    if (name !== undefined && found.has(name)) {
      return name;
    }
    found.add(name);
  }
  return undefined;
}

/** Host name or address, with an optional port (RFC 9110, 7.2). */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/**
 * Creates a function that validates the header `Host`, because an invalid one could change the path of a URL built from it. HTTP/1.0 requests
 * don't require the header.
 */
function createHostCheck(): (host: string | undefined) => boolean {
  const isValid = memoize((host) => HOST.test(host) && URL.canParse(`http://${host}`), MAX_HOSTS);
  return (host) => host === undefined || isValid(host);
}
