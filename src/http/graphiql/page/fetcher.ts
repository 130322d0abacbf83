import type { Fetcher, FetcherParams } from '@graphiql/toolkit';
import type { ExecutionResult } from 'graphql';
import { getOperationAST, parse } from 'graphql';
import type { Credential } from './credential.ts';
import { send } from './send.ts';

/** Receiver of a response, as passed by GraphiQL. */
interface Observer {
  next(result: ExecutionResult): void;
  error(error: unknown): void;
  complete(): void;
}

/** Creates the function that runs operations. Without a credential it asks for one instead of sending. */
export function createFetcher({ read, ask }: Pick<Credential, 'read' | 'ask'>): Fetcher {
  return (params, { headers: typed = {} } = {}) => {
    const headers = toStrings(typed);
    const hasOwn = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
    const authorization = hasOwn ? undefined : read();
    const isMissing = !hasOwn && authorization === undefined;
    return observable(async (signal) => {
      if (isMissing) {
        ask();
        return undefined;
      }
      return send(withOperationName(params), { ...headers, ...(authorization && { authorization }) }, signal);
    });
  };
}

/** Converts a promise to an observable, because GraphiQL can cancel only observables. */
function observable(run: (signal: AbortSignal) => Promise<ExecutionResult | undefined>) {
  return {
    subscribe({ next, error, complete }: Observer) {
      const abort = new AbortController();
      const unlessAborted = (report: () => void) => abort.signal.aborted || report();
      run(abort.signal).then(
        (result) =>
          unlessAborted(() => {
            if (result !== undefined) {
              next(result);
            }
            complete();
          }),
        (reason) => unlessAborted(() => error(reason)),
      );
      return { unsubscribe: () => abort.abort() };
    },
  };
}

/** Corrects the name for a moment after the tab has changed, when GraphiQL still sends that of the previous tab's operation. */
function withOperationName(params: FetcherParams): FetcherParams {
  const { operationName, ...others } = params;
  try {
    const document = parse(params.query);
    const operation = getOperationAST(document, operationName) ?? getOperationAST(document);
    const name = operation?.name?.value;
    return name === undefined ? others : { ...others, operationName: name };
  } catch {
    return others; // The gateway reports the syntax error.
  }
}

const toStrings = (headers: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
