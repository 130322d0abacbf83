// Reads and writes the headers of W3C Trace Context.

import { createTraceState, type SpanContext, TraceFlags, type TraceState } from '@opentelemetry/api';
import type { Logger } from 'pino';
import type { TraceHeaders } from '../../upstream/request.ts';

export interface HeaderSource {
  /** Returns the value of a header. The name must be in lower case. A repeated header is a comma-separated list. */
  header(name: string): string | undefined;
}

/** Version, trace id, span id, flags; in later versions also fields that are not known yet. Ids of zeros and version `ff` are invalid. */
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-.*)?$/;

/** Length of a `traceparent` of version 00, which has no further fields. */
const VERSION_00_LENGTH = 55;

/**
 * Reads the trace context of a request (W3C Trace Context). Not read by the propagator of the SDK, because only servers are trusted with it, and
 * its format is part of this gateway's interface.
 *
 * @returns undefined if `traceparent` is absent, repeated or invalid
 */
export function readTraceContext(source: HeaderSource): SpanContext | undefined {
  const traceparent = source.header('traceparent');
  if (traceparent === undefined) {
    return undefined;
  }
  const hasMore = traceparent.length !== VERSION_00_LENGTH;
  if (!TRACEPARENT.test(traceparent) || (hasMore && traceparent.startsWith('00'))) {
    return undefined;
  }
  const context: SpanContext = {
    traceId: traceparent.slice(3, 35),
    spanId: traceparent.slice(36, 52),
    traceFlags: Number.parseInt(traceparent.slice(53, 55), 16) & TraceFlags.SAMPLED,
    isRemote: true,
  };
  const traceState = readTraceState(source.header('tracestate'));
  if (traceState !== undefined) {
    context.traceState = traceState;
  }
  return context;
}

/** Reads `tracestate`. The API drops invalid, repeated and excess members; then the whole header is invalid. */
function readTraceState(header: string | undefined): TraceState | undefined {
  if (header === undefined) {
    return undefined;
  }
  const state = createTraceState(header);
  const members = header.split(',').map((member) => member.trim());
  const text = members.filter((member) => member !== '').join(','); // Empty members are valid.
  return state.serialize() === text ? state : undefined;
}

export function writeTraceContext({ traceId, spanId, traceFlags, traceState }: SpanContext): TraceHeaders {
  const traceparent = `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`;
  const tracestate = traceState?.serialize() ?? '';
  return tracestate === '' ? { traceparent } : { traceparent, tracestate };
}

/** Runs a call of the operator's SDK. Returns undefined if it throws, because a broken SDK must not fail a request. */
export type GuardSdk = <T>(call: () => T) => T | undefined;

/** Creates the guard. The first failure is logged; more would only repeat it. */
export function createSdkGuard(logger: Logger): GuardSdk {
  let hasFailed = false;
  return (call) => {
    try {
      return call();
    } catch (err) {
      if (!hasFailed) {
        hasFailed = true;
        logger.error({ err }, 'The OpenTelemetry SDK failed. Requests are served, but traces may be incomplete.');
      }
      return undefined;
    }
  };
}
