import { errorFromFailure } from '../errors/error-from-failure.ts';
import { receive } from './receive.ts';
import { Abort } from './signal.ts';
import type { SocketPool } from './socket-pool.ts';

/**
 * Whether anything answers at the service's address; which answer does not matter, for there is no key to ask with.
 *
 * @returns what is wrong, for the operator's eyes, or undefined
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
