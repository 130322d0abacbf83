import type { Attributes } from '@opentelemetry/api';
import { isErrorCode } from '../../settings/error-codes.ts';
import type { Endpoint, UpstreamError } from '../../upstream/errors/errors.ts';
import type { TracedRequest } from '../../upstream/transport/call-trace.ts';
import { type AccessLogEntry, shortenName } from '../access-log.ts';

/** Result of an operation, as in its log line. */
export type OperationSummary = Pick<
  AccessLogEntry,
  'requestId' | 'identity' | 'operation' | 'type' | 'code' | 'status' | 'upstreamCalls' | 'cached'
>;

/** Describes an operation and its result. The document is left out, because it can contain data. */
export function describeOperation(summary: OperationSummary): Attributes {
  const { requestId, identity, operation, type, code, status, upstreamCalls, cached } = summary;
  const attributes: Attributes = {
    'http.response.status_code': status,
    'notigraph.request_id': requestId,
    'notigraph.upstream_calls': upstreamCalls,
  };
  if (cached !== undefined) {
    attributes['notigraph.cached_reads'] = cached;
  }
  if (identity !== undefined) {
    attributes['notigraph.client_kind'] = identity.clientKind;
    if (identity.upstream !== undefined) {
      attributes['notigraph.upstream'] = identity.upstream;
    }
  }
  if (type !== undefined) {
    attributes['graphql.operation.type'] = type;
  }
  if (operation !== undefined && operation !== 'anonymous') {
    attributes['graphql.operation.name'] = shortenName(operation);
  }
  if (code !== undefined) {
    attributes['error.type'] = isErrorCode(code) ? code : '_OTHER'; // Plugins can choose codes.
  }
  return attributes;
}

/** Describes an endpoint by its template. There is no `url.full`, because it would contain ids. */
export const describeEndpoint = ({ method, route }: Endpoint): Attributes => ({
  'http.request.method': method,
  'url.template': route,
});

/** Describes a request that is about to be sent. */
export function describeRequest({ endpoint, server, resends }: TracedRequest): Attributes {
  const attributes = describeEndpoint(endpoint);
  attributes['server.address'] = server.host;
  attributes['server.port'] = server.port;
  if (resends > 0) {
    attributes['http.request.resend_count'] = resends;
  }
  return attributes;
}

/** Describes a failed request. */
export const describeFailure = ({ code, status }: Pick<UpstreamError, 'code' | 'status'>): Attributes =>
  status === undefined ? { 'error.type': code } : { 'error.type': code, 'http.response.status_code': status };
