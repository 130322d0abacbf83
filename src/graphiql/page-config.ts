// Defines the data that the gateway passes to GraphiQL's page.

import type { Scheme } from '../auth/authenticate.ts';
import type { ShippedOperation } from '../documents/shipped-operations.ts';

export type { ExplainedCall, Explanation } from '../graphql/declared-calls.ts';
export type { UpstreamReport } from '../http/message.ts';
export type { Scheme };

/** Parameter of the endpoint's URL that names a file of the page. Hosts that pass only the exact path to the gateway thus serve the files too. */
export const FILE_PARAMETER = 'graphiql';

export type PageOperation = Pick<ShippedOperation, 'name' | 'description' | 'query' | 'variables'>;

export interface PageConfig {
  isSandbox: boolean;
  schemes: readonly Scheme[];
  /** Schemes whose clients may ask for the REST calls of an operation. */
  explains: readonly Scheme[];
  /** Initial value of the header `Authorization`. @default none: the page asks for a credential */
  authorization?: string | undefined;
  operations: readonly PageOperation[];
  /** Names of the operations that are open on the first visit. */
  tabs: readonly string[];
  errorCodes: Readonly<Record<string, { meaning: string; remedy: string }>>;
}
