import { isRecord } from '../../lib/is-record.ts';

/** Body in its `{ "data": … }` envelope. */
interface Envelope {
  data: unknown;
}

/**
 * Whether a body is in an envelope. Services may send any body with or without one.
 *
 * A workflow or subscriber without an envelope may have its own `data` field. Such records also have `_organizationId`, which
 * envelopes don't.
 */
export const isEnvelope = (body: unknown): body is Envelope =>
  isRecord(body) && Object.hasOwn(body, 'data') && !Object.hasOwn(body, '_organizationId');

/** Removes the envelope of a body, if any. */
export const unwrap = (body: unknown): unknown => (isEnvelope(body) ? body.data : body);
