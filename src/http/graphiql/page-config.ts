import type { ShippedOperation } from '../../graphql/documents/shipped-operations.ts';
import { ERROR_CODES } from '../../settings/error-codes.ts';
import { withoutMarkdown } from '../../settings/markdown.ts';

export type { ExplainedCall, Explanation } from '../../graphql/explain/explainer.ts';
export type { UpstreamReport } from '../respond.ts';

/** Authentication scheme of the header `Authorization`. */
export type Scheme = 'ApiKey' | 'Bearer';

/** Operation that the page offers. */
export type PageOperation = Pick<ShippedOperation, 'name' | 'description' | 'query' | 'variables'>;

/** Data that the gateway passes to GraphiQL's page. */
export interface PageConfig {
  /** Whether the service is a sandbox. */
  isSandbox: boolean;
  /** Accepted schemes. */
  schemes: readonly Scheme[];
  /** Schemes whose clients may ask for the REST calls of an operation. */
  explains: readonly Scheme[];
  /** Initial value of the header `Authorization`. @default none: the page asks for a credential */
  authorization?: string | undefined;
  /** Operations of the menu. */
  operations: readonly PageOperation[];
  /** Names of the operations that are open on the first visit. */
  tabs: readonly string[];
  /** Meaning and remedy of each error code. */
  errorCodes: Readonly<Record<string, { meaning: string; remedy: string }>>;
}

/** Options of `createPageConfig`. */
export type PageConfigOptions = Pick<PageConfig, 'isSandbox' | 'schemes' | 'explains' | 'authorization'> & {
  operations: readonly ShippedOperation[];
};

/** Operations in tabs, in this order: read, statistics, toggle, create, bulk, delete. All others are only in the menu. */
const TABS = [
  'Workflow',
  'NotificationStats',
  'UpdateWorkflowStatus',
  'CreateNotificationGroup',
  'CreateSubscribers',
  'DeleteFeed',
];

/** Creates the configuration of the page. */
export const createPageConfig = ({ operations, ...options }: PageConfigOptions): PageConfig => ({
  ...options,
  operations: operations.map(({ name, description, query, variables }) => ({
    name,
    description,
    query,
    ...(variables !== undefined && { variables }),
  })),
  tabs: TABS,
  errorCodes: Object.fromEntries(
    Object.entries(ERROR_CODES).map(([code, { meaning, remedy }]) => [
      code,
      { meaning: withoutMarkdown(meaning), remedy: withoutMarkdown(remedy) },
    ]),
  ),
});
