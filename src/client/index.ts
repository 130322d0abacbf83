/**
 * `notigraph/client`: the shipped operations as typed documents for urql, Apollo Client and graphql-request, with a small client of its own
 * for those who need none of them. Nothing here runs in the gateway, and nothing of the gateway is loaded.
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
