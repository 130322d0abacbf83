import { BodyError } from './body.ts';
import type { Endpoint, UpstreamError } from './errors.ts';
import { badResponse, brokenConnection, notConnected, timedOut } from './failures.ts';

/** Turns what undici throws into the error of the error model. `status` is known when the failure came after the headers. */
export function errorFromFailure(endpoint: Endpoint, failure: unknown, status?: number): UpstreamError {
  if (failure instanceof BodyError) {
    return badResponse(endpoint, status, failure);
  }
  const { code, syscall, name } = describe(failure);
  if (isTlsFailure(code) || isConnectFailure(code, syscall)) {
    return notConnected(endpoint, failure, isTlsFailure(code));
  }
  if (
    name === 'TimeoutError' ||
    name === 'AbortError' ||
    code === 'UND_ERR_HEADERS_TIMEOUT' ||
    code === 'UND_ERR_BODY_TIMEOUT'
  ) {
    return timedOut(endpoint, status, failure);
  }
  if (code.startsWith('HPE_') || code === 'UND_ERR_HEADERS_OVERFLOW') {
    return badResponse(endpoint, status, failure instanceof Error ? failure : code);
  }
  return brokenConnection(endpoint, status, failure);
}

/** Failures that come before a request is written: nothing can have been carried out. */
const isConnectFailure = (code: string, syscall: string): boolean =>
  syscall === 'connect' ||
  syscall === 'getaddrinfo' ||
  code === 'UND_ERR_CONNECT_TIMEOUT' ||
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/.test(code);

/** Certificate and handshake errors of node:tls (`X509` verify codes, OpenSSL and Node's own). */
const isTlsFailure = (code: string): boolean =>
  /^(?:ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA|HOSTNAME_MISMATCH|EPROTO$)/.test(code);

/** A refused `localhost` comes as an AggregateError over its addresses, with the code on the whole. */
function describe(failure: unknown): { code: string; syscall: string; name: string } {
  if (!(failure instanceof Error) && !(failure instanceof DOMException)) {
    return { code: '', syscall: '', name: '' };
  }
  const first: unknown = failure instanceof AggregateError ? failure.errors[0] : failure;
  return {
    code: textOf(failure, 'code') || textOf(first, 'code'),
    syscall: textOf(first, 'syscall'),
    name: failure.name,
  };
}

function textOf(value: unknown, key: string): string {
  const text: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
  return typeof text === 'string' ? text : '';
}
