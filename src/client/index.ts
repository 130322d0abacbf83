/**
 * Public API of `notigraph/client`: the shipped operations as typed documents for urql, Apollo Client and graphql-request, and a small
 * client for apps that use none of them. It imports no gateway code.
 */

export {
  type Client,
  type ClientOptions,
  createClient,
  type RequestArguments,
  type RequestOptions,
} from './client.ts';
export * from './documents.gen.ts';
export { possibleTypes } from './possible-types.gen.ts';
export {
  type ErrorCode,
  type ErrorExtensions,
  type GatewayError,
  type OperationResult,
  UnexpectedResponseError,
} from './result.ts';
export { hashOf, type RequestDocument, type TypedDocument } from './typed-document.ts';
