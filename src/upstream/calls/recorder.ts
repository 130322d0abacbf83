// Records the calls of an operation instead of sending them, for explanations of operations.

import { ignoreRejection } from '../../lib/promises.ts';
import { quoteForShell } from '../../lib/text.ts';
import { type ServiceCache, windowsOf } from '../cache/store.ts';
import {
  type CallAuthor,
  NotSent,
  type RecordedCache,
  readKeyOf,
  type UpstreamClient,
  type UpstreamRequest,
} from '../calls.ts';
import type { DeclaredEndpoint } from '../endpoint.ts';
import { contentTypeOf } from '../transport/exchange.ts';
import { CallBudget, MAX_BULK_ITEMS, type OperationSettings } from './bounded-client.ts';

/**
 * Creates a recorder of the calls of one caller. It sends nothing, and counts toward nothing but its own limits.
 *
 * @param cache cache that the calls would use
 */
export function createRecorder(settings: OperationSettings, cache: ServiceCache | undefined, caller: CallAuthor) {
  const budget = new CallBudget(settings, caller);
  return {
    limits: { calls: settings.maxUpstreamCalls, bulkItems: MAX_BULK_ITEMS },
    /**
     * Creates a client that records calls. Calls that would be rejected before they are sent fail in the same way. Other reads return null, and writes
     * fail with `NotSent`.
     */
    client(onCall: (request: UpstreamRequest) => void): UpstreamClient {
      const record = async (...call: Parameters<CallBudget['createRequest']>) =>
        void onCall(budget.createRequest(...call));
      const notSent = () => Promise.reject(new NotSent('The write was recorded, but not sent.'));
      return {
        read: (endpoint, args) => ignoreRejection(record('read', endpoint, args).then(() => null)),
        write: (...call) => ignoreRejection(record('write', ...call).then(notSent)),
      };
    },
    /** Returns the request of a read without recording it. */
    requestOf: (endpoint: DeclaredEndpoint): UpstreamRequest =>
      new CallBudget(settings, caller).createRequest('read', endpoint, {}),
    /**
     * Returns a curl command that sends a request, for POSIX shells. `***` takes the place of the key.
     *
     * Returns undefined if the key is also in another part of the request, because then the command can't be shown.
     */
    curlOf({ endpoint, credential, path, args, body, headers: declared = {} }: UpstreamRequest): string | undefined {
      const url = settings.upstreamUrl.origin + path;
      const own = Object.entries(declared).map(([name, value]) => (value === '' ? `${name};` : `${name}: ${value}`)); // As curl sends empty ones.
      const key = credential.slice(credential.indexOf(' ') + 1);
      const forms = [
        key,
        encodeURIComponent(key),
        JSON.stringify(key).slice(1, -1),
        `${new URLSearchParams([['', key]])}`.slice(1),
      ];
      if ([url, body, ...own].some((text) => forms.some((form) => text?.includes(form)))) {
        return undefined;
      }
      const headers = [
        `Authorization: ${credential.slice(0, credential.indexOf(' '))} ***`,
        ...(body === undefined ? [] : [`Content-Type: ${contentTypeOf(endpoint)}`]),
        ...(args.idempotencyKey === undefined ? [] : [`Idempotency-Key: ${args.idempotencyKey}`]),
        ...own,
      ];
      return [
        `curl --request ${endpoint.method}`,
        ...(/[[\]]/.test(url) ? ['--globoff'] : []), // Only a prefix can contain them. To curl, they are ranges.
        quoteForShell(url),
        ...headers.map((header) => `--header ${quoteForShell(header)}`),
        ...(body === undefined ? [] : [`--data-raw ${quoteForShell(body)}`]),
      ].join(' ');
    },
    /** Returns the use of the cache for an endpoint, and for a request if its path is known; undefined if responses are not cached. Leaves no trace in the cache. */
    async cacheOf({ cached }: DeclaredEndpoint, request?: UpstreamRequest): Promise<RecordedCache | undefined> {
      if (cache === undefined || cached === undefined) {
        return undefined;
      }
      const windows = windowsOf(cache.settings, cached);
      const freshSeconds = windows.freshMs / 1_000;
      if (request === undefined) {
        return { state: 'unknown', freshSeconds };
      }
      const owner = { address: cache.address, credential: request.credential };
      const { entry } = await cache.store.find({ owner, kind: cached.kind, read: readKeyOf(request) });
      const ageMs = entry?.ageMs;
      const isUsable = ageMs !== undefined && ageMs <= windows.lifetimeMs;
      return { state: !isUsable ? 'absent' : ageMs <= windows.freshMs ? 'fresh' : 'stale', freshSeconds };
    },
  };
}
