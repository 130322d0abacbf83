// Errors as the gateway sends them.

import { ERROR_CODES, type ErrorCode, type ErrorCodeEntry } from '../../../../src/errors/codes.ts';
import { withoutMarkdown } from '../../../../src/lib/text.ts';
import type { ErrorExtensions, GatewayError } from '../../../client/src/index.ts';

/** Details of a mocked error; the code decides the others. */
export interface GatewayErrorOptions extends Partial<Omit<ErrorExtensions, 'code'>> {
  /** @default the meaning of the code in docs/errors.md */
  message?: string;
  /** Path of the failed field, such as `['workflow']`. Omit it if the gateway rejects the request. */
  path?: readonly (string | number)[];
}

/**
 * Returns an error as the gateway sends it. `retryable` is that of the code unless given.
 *
 * @throws {TypeError} if there is no such code
 */
export function gatewayError(code: ErrorCode, options: GatewayErrorOptions = {}): GatewayError {
  if (!Object.hasOwn(ERROR_CODES, code)) {
    throw new TypeError(`Unknown error code "${code}". Codes of the gateway: ${Object.keys(ERROR_CODES).join(', ')}.`);
  }
  const { meaning, retryable }: ErrorCodeEntry = ERROR_CODES[code];
  const { message = withoutMarkdown(meaning), path, ...extensions } = options;
  return {
    message,
    ...(path !== undefined && { path }),
    extensions: { code, retryable: retryable === true, ...extensions },
  };
}

/** Returns the HTTP status of a response with these errors: that of the first code if the request was rejected, else 200. */
export function statusOf(data: unknown, errors: readonly GatewayError[] = []): number {
  const [error] = errors;
  if (error === undefined || error.path !== undefined || (data !== undefined && data !== null)) {
    return 200;
  }
  const entries: Readonly<Record<string, ErrorCodeEntry>> = ERROR_CODES;
  return entries[error.extensions.code]?.status ?? 200;
}
