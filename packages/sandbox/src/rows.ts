// Reads values of database rows and JSON objects.

import { ApiError, internalError } from './errors.ts';

/** A database row or a decoded JSON object. Its fields have unknown types; read them with the functions below. */
export type Row = Record<string, unknown>;

/** Whether a value is an object, but not null or an array. */
export const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns a value that is an object, or else an empty one. */
export const toRow = (value: unknown): Row => (isRow(value) ? value : {});

/** Returns a record. @throws {ApiError} 404 if there is none */
export function requireRow(row: Row | undefined, noun: string, key: string): Row {
  if (row === undefined) {
    throw new ApiError(404, `This environment has no ${noun} "${key}".`);
  }
  return row;
}

/** Returns a record found by its id. @throws {ApiError} 404 if there is none, or as `assertRecordId` does */
export function requireRecord(row: Row | undefined, noun: string, id: string, parameter?: string): Row {
  if (row === undefined) {
    assertRecordId(id, parameter);
  }
  return requireRow(row, `${noun} with the id`, id);
}

/**
 * Fails as the real service, if an id without a record is none that the service gives to records.
 *
 * @param parameter its name where the service checks it. @default it doesn't
 * @throws {ApiError} 422, or 500 if the service doesn't check it
 */
export function assertRecordId(id: string, parameter?: string): void {
  if (!/^[0-9a-f]{24}$/i.test(id)) {
    throw parameter === undefined ? internalError() : new ApiError(422, [`"${parameter}" must be a mongodb id.`]);
  }
}

/** Reads a required string. */
export function text(row: Row, field: string): string {
  const value = row[field];
  if (typeof value !== 'string') {
    throw new TypeError(`Expected a string in "${field}", found ${value === null ? 'null' : typeof value}`);
  }
  return value;
}

/** Reads a string that may be NULL or absent. */
export const optionalText = (row: Row, field: string): string | null =>
  row[field] === null || row[field] === undefined ? null : text(row, field);

/** Reads a required number. */
export function integer(row: Row, field: string): number {
  const value = row[field];
  if (typeof value !== 'number') {
    throw new TypeError(`Expected a number in "${field}", found ${value === null ? 'null' : typeof value}`);
  }
  return value;
}

/** Reads a boolean, which SQLite stores as 0 or 1. */
export const flag = (row: Row, field: string): boolean => integer(row, field) !== 0;

/** Reads a string that contains JSON, and decodes it. */
export const json = (row: Row, field: string): unknown => JSON.parse(text(row, field));

/** Reads the JSON object in the column `document`. No row has an empty one. */
export const documentOf = (row: Row | undefined): Row => (row === undefined ? {} : toRow(json(row, 'document')));
