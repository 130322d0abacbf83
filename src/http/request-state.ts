import { isIP } from 'node:net';
import type { Identity } from '../auth/identity.ts';
import type { GatewayContext } from '../graphql/context.ts';
import type { Operation } from '../graphql/documents/prepared-documents.ts';
import { createCondition } from '../lib/condition.ts';
import { parseIpRange } from '../lib/ip-addresses.ts';
import type { GatewaySettings } from '../settings/settings.ts';
import type { OperationTrace } from '../telemetry/tracing/operation-trace.ts';
import type { AdmissionAllowance } from './access.ts';
import {
  type IncomingRequest,
  type NegotiateMediaType,
  REQUEST_ID,
  type RequestExtensions,
  toRequestId,
} from './request.ts';

/** State of one request. The steps of the pipeline fill it in. */
export interface RequestState {
  readonly request: IncomingRequest;
  /** Start time, as in `performance.now()`. */
  readonly startedAt: number;
  readonly requestId: string;
  /** Media type of the response; undefined if the client accepts none of the available types. */
  readonly mediaType: string | undefined;
  /** IP address of the client; undefined if it is not logged or unknown. */
  readonly address: string | undefined;
  /** Path of the endpoint; undefined before it is known to be one. Any other path is data of the client. */
  route?: string;
  identity?: Identity;
  /** State of the caller's rate limit; undefined if the caller has none, or before it is checked. */
  allowance?: AdmissionAllowance | undefined;
  /** Trace of the operation; undefined if there is none, or before the caller is identified. */
  trace?: OperationTrace | undefined;
  /** Flags of the request; undefined before they are read. */
  extensions?: RequestExtensions;
  context?: GatewayContext;
  operation?: Operation;
}

/** Counts the requests in flight, so that what they use is closed after them. */
export class RunningRequests {
  #running = 0;
  readonly #idle = createCondition(() => this.#running === 0);

  enter(): void {
    this.#running += 1;
  }

  leave(): void {
    this.#running -= 1;
    this.#idle.check();
  }

  /** Waits until all requests have ended. */
  finished(): Promise<void> {
    return this.#idle.met();
  }
}

/** Starts the trace of a request. */
export type StartTrace = (state: RequestState) => OperationTrace | undefined;

/** Creates the state of a new request. */
export type CreateRequestState = (request: IncomingRequest) => RequestState;

/** Creates the function that creates the state of requests. */
export const createRequestStates =
  (negotiateMediaType: NegotiateMediaType, addressOf: AddressOf): CreateRequestState =>
  (request) => ({
    request,
    startedAt: performance.now(),
    requestId: toRequestId(request.header(REQUEST_ID)),
    mediaType: negotiateMediaType(request.header('accept')),
    address: addressOf(request),
  });

/** Returns the IP address of the client that sent a request; undefined if it is not logged or unknown. */
export type AddressOf = (request: Pick<IncomingRequest, 'remoteAddress' | 'header'>) => string | undefined;

/**
 * Creates the function that finds the addresses of clients. It believes only trusted proxies, each of which adds the address of its own client at the
 * end of a header: that of another client could be invented.
 */
export function createAddressOf(trustedProxies: GatewaySettings['trustedProxies']): AddressOf {
  if (trustedProxies === undefined) {
    return () => undefined;
  }
  const { addresses, header } = trustedProxies;
  const ranges = addresses.flatMap((each) => parseIpRange(each) ?? []);
  return (request) => {
    let address = request.remoteAddress && normalize(request.remoteAddress);
    for (const entry of (request.header(header.toLowerCase()) ?? '').split(',').reverse()) {
      const [, sender = entry] = header === 'Forwarded' ? (/(?:^|;)\s*for=([^;]*)/i.exec(entry) ?? []) : [];
      const next = normalize(sender);
      if (address === undefined || isIP(next) === 0 || !ranges.some((range) => range(address ?? ''))) {
        break;
      }
      address = next;
    }
    return address;
  };
}

/** Returns an address without quotes, port and zone, and an IPv4 address in its own form. */
const normalize = (text: string): string =>
  text
    .trim()
    .replace(/^"?\[?(.*?)(?:\](?::\d+)?)?"?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
    .replace(/^::ffff:(?=\d+\.)/i, '')
    .replace(/%.*/, '');
