// Defines the data that the gateway passes to GraphiQL's page.

import type { Scheme } from '../auth/authenticate.ts';
import type { ShippedOperation } from '../documents/shipped-operations.ts';

export type { ExplainedCall, Explanation } from '../graphql/explanation.ts';
export type { UpstreamReport } from '../http/respond.ts';
export type { Scheme };

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
