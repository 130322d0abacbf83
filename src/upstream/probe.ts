import type { Dispatcher } from 'undici';
import { errorFromFailure } from './error-from-failure.ts';

/**
 * Whether anything answers at the service's address; which answer does not matter, for there is no key to ask with.
 *
 * @returns what is wrong, for the operator's eyes, or undefined
 */
export async function probeUpstream(baseUrl: URL, dispatcher: Dispatcher): Promise<string | undefined> {
  try {
    const { body } = await dispatcher.request({
      origin: baseUrl.origin,
      path: baseUrl.pathname,
      method: 'HEAD',
      signal: AbortSignal.timeout(3_000),
    });
    await body.dump();
    return undefined;
  } catch (failure) {
    const code: unknown = failure instanceof Error ? Reflect.get(failure, 'code') : undefined;
    const progress = { sent: true, status: undefined };
    return typeof code === 'string'
      ? code
      : errorFromFailure({ method: 'GET', route: baseUrl.pathname }, failure, progress).message;
  }
}
