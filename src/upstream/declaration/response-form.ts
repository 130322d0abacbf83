// The forms of successful responses: their types, and how records and envelopes are recognized.

import { isRecord } from '../../lib/is-record.ts';

/**
 * Form of a successful response: one object, a list of objects, a page (an object with a list in `data`), any JSON value or none, a text of any media
 * type, or a body that is ignored. Those in JSON can be in an envelope, except a page.
 */
export type Expected = 'record' | 'list' | 'page' | 'value' | 'text' | 'nothing';

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

/** Whether a value of a response is a record: an object with one of the members that identify it. */
export const isIdentified = (value: unknown, identifiedBy: readonly string[]): boolean =>
  isRecord(value) &&
  (identifiedBy.length === 0 ||
    identifiedBy.some(
      (name) =>
        (typeof value[name] === 'string' && value[name] !== '') ||
        typeof value[name] === 'number' ||
        value[name] === true,
    ));

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
