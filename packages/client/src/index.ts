// Public API of `notigraph/client`: the shipped operations as typed documents for urql, Apollo Client and graphql-request, and a small
// client for apps that use none of them. It imports no gateway code.

export { keys, possibleTypes, typePolicies } from './cache-settings.gen.ts';
export type { RequestArguments, RequestOptions } from './client.ts';
export { type Client, type ClientOptions, createClient } from './client.ts';
export * from './documents.gen.ts';
export type { ExplainedBudget, ExplainedCall, Explanation, UpstreamReport } from './result.ts';
export {
  type ErrorCode,
  type ErrorExtensions,
  type ExplainResult,
  type GatewayError,
  type OperationResult,
  type ResponseExtensions,
  UnexpectedResponseError,
} from './result.ts';
export type { RetryEvent, RetryOptions } from './retry.ts';
export { hashOf, type RequestDocument, type TypedDocument } from './typed-document.ts';
