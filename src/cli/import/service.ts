import type { Logger } from 'pino';
import { watchFiles } from '../../lib/files/file-watcher.ts';
import { Usage } from '../../telemetry/usage.ts';
import { createCacheStores } from '../../upstream/cache/cache-stores.ts';
import { Endpoints } from '../../upstream/endpoints/index.gen.ts';
import type { UpstreamRateLimit } from '../../upstream/errors.ts';
import type { Signal } from '../../upstream/signal.ts';
import { serviceAddressOf } from '../../upstream/transport/path.ts';
import { createUpstreams } from '../../upstream/upstreams.ts';
import type { ServiceSettings } from '../service/find-service.ts';

/** Service that gets the subscribers. Calls go through the gateway's client with all its policies. */
export interface ImportService extends AsyncDisposable {
  /** Address, without credentials. */
  address: string;
  /** Returns the endpoints for one call, which has the time limit of an operation. */
  prepare(requestId: string): PreparedCall;
}

/** Endpoints for one call. */
export interface PreparedCall {
  upstream: Endpoints;
  /** Returns the service's rate limit, once it responded. */
  rateLimit(): UpstreamRateLimit | undefined;
}

/** Options of `openService`. */
export interface ServiceOptions {
  url: URL;
  settings: ServiceSettings;
  authorization: string;
  /** Ends calls in flight. */
  signal: Signal;
  logger: Logger;
}

/** Opens the connections to a service. @throws {SecretError} if a certificate is invalid */
export function openService({ url, settings, authorization, signal, logger }: ServiceOptions): ImportService {
  const upstreams = createUpstreams(
    { ...settings, cache: false, upstream: url.href }, // No cached read depends on subscribers.
    { logger, now: () => new Date(), cacheStores: createCacheStores(logger) },
  );
  const certificates = watchFiles(upstreams.files, settings.reloadSeconds, logger);
  return {
    address: serviceAddressOf(url),
    prepare(requestId) {
      const usage = new Usage();
      const deadlineAt = performance.now() + settings.operationTimeoutMs;
      const client = upstreams.bind(undefined, { authorization, signal, deadlineAt, requestId, events: usage });
      return { upstream: new Endpoints(client), rateLimit: () => usage.rateLimit };
    },
    async [Symbol.asyncDispose]() {
      certificates[Symbol.dispose]();
      await upstreams.close();
    },
  };
}

/**
 * Reads the notification groups, which shows whether the service is reachable and accepts the key before anything is written.
 *
 * @returns the id of the key's environment; undefined if there are no groups
 * @throws {UpstreamError} if the read fails
 */
export async function readEnvironmentId(service: ImportService, requestId: string): Promise<string | undefined> {
  const [group] = (await service.prepare(requestId).upstream.listNotificationGroups()) ?? [];
  const id: unknown = group?._environmentId; // Not checked by the client.
  return typeof id === 'string' ? id : undefined;
}
