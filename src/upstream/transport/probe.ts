import { errorFromFailure } from '../errors/error-from-failure.ts';
import { receive } from './receive.ts';
import { Abort } from './signal.ts';
import type { SocketPool } from './socket-pool.ts';

/**
 * Checks that a server responds at the service's address. Accepts any response, because there is no key to send.
 *
 * @returns the problem, for the operator; undefined if there is none
 */
export async function probeUpstream(baseUrl: URL, dispatcher: SocketPool): Promise<string | undefined> {
  try {
    await receive(
      dispatcher,
      { origin: baseUrl.origin, path: baseUrl.pathname, method: 'HEAD' },
      () => ({ keep: false, maxBytes: 0 }),
      { credential: '', progress: { sent: false, status: undefined }, signal: new Abort(), timeoutMs: 3_000 },
    );
    return undefined;
  } catch (failure) {
    const code: unknown = failure instanceof Error ? Reflect.get(failure, 'code') : undefined;
    const progress = { sent: true, status: undefined };
    return typeof code === 'string'
      ? code
      : errorFromFailure({ method: 'GET', route: baseUrl.pathname }, failure, progress).message;
  }
}
