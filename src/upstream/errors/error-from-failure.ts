import { BodyError } from '../transport/body.ts';
import { ProxyError } from '../transport/proxy-tunnel.ts';
import { BufferLimitError, type Progress } from '../transport/receive.ts';
import type { Endpoint, UpstreamError } from './errors.ts';
import { badResponse, brokenConnection, bufferLimitExceeded, notConnected, timedOut } from './failures.ts';

/** Converts a failure of undici or of reading the body to an `UpstreamError`. */
export function errorFromFailure(endpoint: Endpoint, failure: unknown, { sent, status }: Progress): UpstreamError {
  if (failure instanceof BodyError) {
    return badResponse(endpoint, status, failure);
  }
  if (failure instanceof BufferLimitError) {
    return bufferLimitExceeded(endpoint, status);
  }
  const { code, name, message } = describe(failure);
  if (!sent) {
    return notConnected(
      endpoint,
      failure,
      isTlsFailure(code) || (failure instanceof ProxyError && failure.isPermanent),
    );
  }
  if (name === 'TimeoutError' || code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') {
    return timedOut(endpoint, status, failure, code === 'UND_ERR_HEADERS_TIMEOUT');
  }
  if (isProtocolError(code, name, message, status)) {
    return badResponse(endpoint, status, failure instanceof Error ? failure : code);
  }
  return brokenConnection(endpoint, status, failure);
}

/** Matches certificate and handshake errors of node:tls (`X509` verify codes, OpenSSL and Node's own). */
const isTlsFailure = (code: string): boolean =>
  /^(?:ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA|HOSTNAME_MISMATCH|EPROTO$)/.test(code);

/** Matches malformed HTTP, but not truncated responses. Checks messages too, because undici has one code for several kinds of failures. */
const isProtocolError = (code: string, name: string, message: string, status: number | undefined): boolean =>
  (name === 'HTTPParserError' && !message.includes('Invalid EOF state')) ||
  code === 'UND_ERR_HEADERS_OVERFLOW' ||
  code === 'ERR_ASSERTION' || // A status below 100, which undici doesn't expect.
  (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' && status === undefined) || // Contradictory headers; with a status, a truncated body.
  (code === 'UND_ERR_SOCKET' && /^bad (?:response|upgrade)$/.test(message));

/** Returns code, name and message of a failure. A refused connection to `localhost` is an AggregateError that has the code itself. */
function describe(failure: unknown): { code: string; name: string; message: string } {
  if (!(failure instanceof Error) && !(failure instanceof DOMException)) {
    return { code: '', name: '', message: '' };
  }
  const code: unknown = Reflect.get(failure, 'code');
  return { code: typeof code === 'string' ? code : '', name: failure.name, message: failure.message };
}
