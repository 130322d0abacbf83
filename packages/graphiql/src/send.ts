// Sends operations to the gateway, again if it is busy.

import type { FetcherParams } from '@graphiql/toolkit';
import type { ExecutionResult } from 'graphql';
import type { Explanation, UpstreamReport } from '../../../src/graphiql/page-config.ts';
import { readResult } from '../../client/src/result.ts';
import { canRepeat, settle, sleep, waitOf } from '../../client/src/retry.ts';
import { mayWrite } from '../../client/src/typed-document.ts';

type GatewayResult = ExecutionResult<
  Record<string, unknown>,
  { upstream?: UpstreamReport; explain?: Explanation; [name: string]: unknown }
>;

export interface Reply {
  status: number;
  ms: number;
  /** Size before compression. */
  bytes: number;
}

const MAX_ATTEMPTS = 5;

/** Longest wait before a request is sent again. If the response asks for a longer one, it is shown. */
const MAX_WAIT_SECONDS = 10;

const NO_RESPONSE =
  'The gateway doesn’t respond. Check that it is running and that your computer can reach it, then try again.';
const REDIRECTED =
  'The request was redirected to another address, so it was not executed. Reload the page: a proxy may ask you to sign in.';
const MAY_BE_EXECUTED = 'Before you repeat a mutation, check whether it was executed.';

/**
 * Sends an operation to the endpoint, which has the address of the page. Sends it again if the response is 503 with `Retry-After`, unless it
 * may have been executed: the gateway refuses requests before it executes them, but the 503 of a proxy proves nothing about a mutation.
 *
 * @param request operation, with the extensions that ask for its calls
 * @param onWait called before a wait with a sentence about it
 * @param signal stops the request, or the wait for the next attempt
 * @throws {Error} with a message for people, if there is no response or it has no JSON
 */
export async function send(
  request: FetcherParams & { extensions?: Readonly<Record<string, true>> },
  headers: Readonly<Record<string, string>>,
  onWait: (message: string) => void,
  signal?: AbortSignal,
): Promise<Reply & { result: GatewayResult }> {
  for (let attempt = 1; ; attempt += 1) {
    const start = performance.now();
    const response = await fetch(location.pathname, {
      method: 'POST',
      headers: {
        accept: 'application/graphql-response+json, application/json',
        'content-type': 'application/json',
        'x-graphql-client-name': 'GraphiQL',
        ...headers,
      },
      body: JSON.stringify(request),
      redirect: 'manual', // Followed, it could lose the method, the body or the credential.
      ...(signal && { signal }),
    }).catch(() => {
      throw new Error(mayWrite(request.query) ? `${NO_RESPONSE} ${MAY_BE_EXECUTED}` : NO_RESPONSE);
    });
    if (response.type === 'opaqueredirect') {
      throw new Error(REDIRECTED);
    }
    const seconds = attempt < MAX_ATTEMPTS ? await waitAfter(response.clone(), request.query, attempt) : undefined;
    if (seconds === undefined) {
      const { status } = response;
      try {
        const body = await response.arrayBuffer();
        const ms = performance.now() - start;
        return { result: JSON.parse(new TextDecoder().decode(body)), status, ms, bytes: body.byteLength };
      } catch {
        throw new Error(`The server responded with status ${status} and without JSON.`);
      }
    }
    onWait(
      `The gateway can’t handle the request now (503). Attempt ${attempt + 1} of ${MAX_ATTEMPTS} starts in ${seconds} s.`,
    );
    await sleep(seconds * 1_000, signal);
  }
}

/** Returns the seconds to wait before an operation is sent again; undefined if it must not be, or can't succeed. */
async function waitAfter(response: Response, query: string, attempt: number): Promise<number | undefined> {
  if (response.status !== 503 || !response.headers.has('retry-after')) {
    return undefined;
  }
  const current = await settle(readResult(response, response.url));
  const seconds = Math.ceil(waitOf(current, attempt));
  const mayRepeat = canRepeat(current, { isWrite: mayWrite(query), hasOwnKey: false });
  return mayRepeat && seconds <= MAX_WAIT_SECONDS ? seconds : undefined;
}
