import type { JWTPayload } from 'jose';
import { AuthenticationError } from './authentication-error.ts';

// A claim of the wrong type is rejected, never converted: as a string, every object is "[object Object]", and two people would share their
// limits and idempotency keys.

/**
 * Returns a claim that must be a string; undefined if the token doesn't have it.
 *
 * @throws {AuthenticationError} TOKEN_INVALID
 */
export function readText(claims: JWTPayload, name: string): string | undefined {
  const value = claims[name];
  if (value !== undefined && typeof value !== 'string') {
    throw new AuthenticationError('TOKEN_INVALID');
  }
  return value;
}

/**
 * Returns a claim that must be a list of strings; undefined if the token doesn't have it.
 *
 * @throws {AuthenticationError} TOKEN_INVALID
 */
export function readTexts(claims: JWTPayload, name: string): readonly string[] | undefined {
  const value = claims[name];
  if (value !== undefined && !isTexts(value)) {
    throw new AuthenticationError('TOKEN_INVALID');
  }
  return value;
}

/**
 * Returns the entries of a claim that must be a space-separated string (RFC 8693, 4.2) or a list of strings; none if the token doesn't have
 * it.
 *
 * @throws {AuthenticationError} TOKEN_INVALID
 */
export const readWords = (claims: JWTPayload, name: string): readonly string[] =>
  typeof claims[name] === 'string' ? claims[name].split(' ') : (readTexts(claims, name) ?? []);

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((entry) => typeof entry === 'string');
