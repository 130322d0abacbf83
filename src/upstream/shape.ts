// The form of response bodies: what the contract permits, and the envelope around it.

import { isRecord } from '../lib/is-record.ts';

export type JsonType = 'string' | 'number' | 'boolean' | 'object' | 'array' | 'null';

/** Values that the contract permits at one place of a response. */
export interface Shape {
  /** Permitted types. @default all; the value is free-form */
  types?: readonly JsonType[];
  /** All permitted values. @default any value of the types */
  values?: readonly string[];
  /** Items of a list. @default free-form */
  items?: Shape;
  /** Known fields of an object. @default free-form */
  fields?: Readonly<Record<string, Shape>>;
  /** Fields that are always present. @default none */
  required?: readonly string[];
}

/**
 * Whether a body is in an envelope. Services may send any body with or without one.
 *
 * A workflow or subscriber without an envelope may have its own `data` field. Such records also have `_organizationId`, which
 * envelopes don't.
 */
export const isEnvelope = (body: unknown): body is { data: unknown } =>
  isRecord(body) && Object.hasOwn(body, 'data') && !Object.hasOwn(body, '_organizationId');

/** Removes the envelope of a body, if any. */
export const unwrap = (body: unknown): unknown => (isEnvelope(body) ? body.data : body);
