// Reduces errors to what the log has of them, because those of HTTP clients contain the whole request with its credential.

import { orUndefined } from '../lib/caught.ts';

/** Returns a text without what follows the name of an authentication scheme, as in a header, and without signed tokens (JWT). */
export const withoutCredentials = (text: string): string =>
  text.replace(
    /\b((?:apikey|basic|bearer)[ :]+)[^\s"',;]+|(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]*/gi,
    (_, scheme: string | undefined) => `${scheme ?? ''}***`,
  );

/** Error as the log has it. */
export interface LoggedError {
  type: string;
  message: string;
  code: string | undefined;
  /** Type, code and message, and then the places in the code. */
  stack: string;
  cause: LoggedError | undefined;
}

/**
 * Returns the type, message, code and stack of what was thrown, and those of its causes. The result has no prototype, whose constructor pino would take for
 * the type. Pino adds the texts of causes to the message and the stack.
 *
 * @param isShowable whether a text contains no part of the caller's credential. @default no credential is known
 * @param causes maximum causes within each other, because an error can be its own
 */
export function toLoggedError(error: unknown, isShowable = (_text: string) => true, causes = 3): LoggedError {
  const read = (name: string): unknown => orUndefined(() => Reflect.get(Object(error), name));
  const show = (value: unknown): string | undefined => {
    const text = typeof value === 'string' ? withoutCredentials(value.slice(0, 2_000)) : undefined; // It can quote a response.
    return text === undefined || isShowable(text) ? text : '(not shown: it contains a credential)';
  };
  const [type, code, stack] = [show(read('name')) ?? typeof error, show(read('code')), read('stack')];
  const text = Object(error) === error ? read('message') : String(error);
  const message = show(text) ?? '';
  // The message can have lines that look like places.
  const [frames] = (typeof stack === 'string' && /(?:\n +at .*)+/.exec(stack.replace(String(text), ''))) || [''];
  const cause = read('cause') ?? orUndefined(() => Reflect.get(Object(read('errors')), 0)); // The first one of several.
  return Object.assign(Object.create(null), {
    ...{ type, message, code },
    stack: `${type}${code === undefined ? '' : ` [${code}]`}: ${message}${show(frames)}`,
    cause: cause === undefined || causes === 0 ? undefined : toLoggedError(cause, isShowable, causes - 1),
  });
}
