// Reads why the service rejected a request, but never the values that it quotes, which can be personal.

import { isRecord } from '../../lib/is-record.ts';
import { truncate } from '../../lib/text.ts';
import type { Endpoint, InputIssue } from '../errors.ts';
import { FAILURES } from '../failures.ts';

/** Maximum length of a message of the service that is passed on. */
const MAX_MESSAGE_LENGTH = 500;

/** Maximum length of a message that is searched for the key. Longer than what is shown: a key may be cut there. */
const MAX_SEARCHED_LENGTH = 2 * MAX_MESSAGE_LENGTH;

/** Maximum bytes of a response's messages that are searched, with their paths, so that this takes little time. Later messages are left out, not cut. */
const MAX_SEARCHED_BYTES = 4 * 1024;

/** Maximum number of messages that are read from each part of a response. */
const MAX_MESSAGES = 20;

/** Maximum number of names in a path. */
const MAX_DEPTH = 8;

/** Form of names. Others could be anything, such as a quoted value. */
const NAME = /^[\p{L}\p{N}_$-]{1,64}$/u;

const QUOTED_INPUT = /^(?:value|received|input|target)$/;

/**
 * Returns all sentences in the body of a failed response as one message, which is empty if there are none, and the problems with the input, at least one.
 * Paths have the names that the REST API uses.
 *
 * @param isShowable whether a text can be shown
 */
export function readReasons(
  sent: unknown,
  { route }: Endpoint,
  body: object | undefined = {},
  isShowable: (text: string) => boolean,
): { message: string; issues: InputIssue[] } {
  const { message, errors, cause } = isRecord(sent) ? sent : {};
  let bytes = 0;
  const read = (members: readonly (readonly [string, unknown])[]) => {
    const found: InputIssue[] = [];
    for (const [name, value] of members.slice(0, MAX_MESSAGES)) {
      collect(value, splitName(name), found, 4);
    }
    return found.flatMap(({ path: names, message: whole }) => {
      const text = toPlainLine(whole.slice(0, MAX_SEARCHED_LENGTH));
      const path = locate(names, text, route, body);
      const searched = `${path.join('.')}: ${text}`;
      bytes += Buffer.byteLength(searched);
      const isShown = text !== '' && bytes <= MAX_SEARCHED_BYTES && isShowable(searched);
      return isShown
        ? { path, message: truncate(toPlainLine(whole.slice(0, MAX_MESSAGE_LENGTH + 1)), MAX_MESSAGE_LENGTH) }
        : [];
    });
  };
  const sentences = read([['', message]]);
  const isMap =
    isRecord(errors) && !['message', 'field', 'property', 'path'].some((name) => typeof errors[name] === 'string'); // Otherwise, it is one error, or a list.
  const reasons = read([
    ...(isMap ? Object.entries(errors).filter(([name]) => !QUOTED_INPUT.test(name)) : [['', errors] as const]),
    ...(isRecord(cause) ? Object.entries(cause).filter(([, value]) => Array.isArray(value)) : []), // Other causes are internal errors.
  ]);
  const issues = reasons.length > 0 ? reasons : sentences;
  return {
    message: truncate([...new Set([...sentences, ...reasons].map(describe))].join('; '), MAX_MESSAGE_LENGTH),
    issues: issues.length > 0 ? issues : [{ path: [], message: FAILURES.rejectedInput.message }],
  };
}

/** Collects texts: a string, a list of texts, or an object with some in `message`, `messages` or `constraints`. */
function collect(value: unknown, path: string[], into: InputIssue[], depth: number): void {
  if (typeof value === 'string' && into.length < MAX_MESSAGES) {
    into.push({ path, message: value });
  } else if (depth > 0 && Array.isArray(value)) {
    for (const item of value.slice(0, MAX_MESSAGES)) {
      collect(item, path, into, depth - 1);
    }
  } else if (depth > 0 && isRecord(value)) {
    const isUrlPath = typeof value.path === 'string' && value.path.startsWith('/');
    const { constraints, field = value.property ?? (isUrlPath ? undefined : value.path) } = value;
    const text = value.message ?? value.messages ?? (isRecord(constraints) ? Object.values(constraints) : undefined);
    collect(text, [...path, ...splitName(field)], into, depth - 1);
  }
}

/** Returns the parts of a name: `to[0].email`, `/to/0/email` or a list. */
const splitName = (name: unknown): string[] =>
  [name].flat(2).flatMap((part) =>
    typeof part === 'string' || typeof part === 'number'
      ? String(part)
          .split(/[.[\]/]+/)
          .filter(Boolean)
      : [],
  );

/** Returns a path without a first name that stands for the whole body or record. Empty if a name isn't plain. */
function locate(names: string[], text: string, route: string, body: object): string[] {
  // Validators start their sentences with the field's name.
  const spoken = names.length > 0 ? [] : splitName(/\w[\w.[\]]*/.exec(text)?.[0]);
  const [first = '', ...rest] = names.length > 0 ? names : spoken;
  const isKnown = Object.hasOwn(body, first);
  const isWhole = /^(?:general|body)$/.test(first) || route.split('/').includes(`${first}s`);
  const path = isKnown ? [first, ...rest] : isWhole ? rest : names;
  return path.length <= MAX_DEPTH && path.every((name) => NAME.test(name)) ? path : [];
}

/** Returns a sentence that names its field. */
const describe = ({ path, message }: InputIssue): string =>
  message.toLowerCase().includes((path.at(-1) ?? '').toLowerCase()) ? message : `${path.join('.')}: ${message}`;

/**
 * Removes characters that change how others are shown, such as U+202E. Replaces line breaks, control characters and lone surrogates, which many JSON parsers
 * reject, with spaces.
 */
const toPlainLine = (text: string): string =>
  text
    .replace(/\p{Cf}+/gu, '')
    .replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
