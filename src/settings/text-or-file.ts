import { z } from 'zod';
import { group, setting, text } from './setting.ts';

// Values that the configuration contains itself, or reads from a file.

/** File that a setting refers to. */
export const file = group({ file: setting(text(), 'Path of the file.') });

/** The secret itself, or the file that holds it. The configuration file accepts `{ env }` and `{ file }`. */
export const secret = z.union([text(), file], 'must be a secret: { env: NAME } or { file: PATH }');

/** Secret with a minimum length, or the file that holds it. A secret in a file is checked when it is read. */
export const secretOf = (minLength: number) =>
  secret.refine(
    (value) => typeof value !== 'string' || value.length >= minLength,
    `must have at least ${minLength} characters`,
  );

/** Certificates in PEM, or the file that holds them. */
export const pem = z.union([text(), file], 'must be PEM, { env: NAME } or { file: PATH }');

/** Public key of an issuer, or the file that holds it. */
export const publicKey = z.union([text(), file], 'must be a PEM or JSON Web Key, { env: NAME } or { file: PATH }');
