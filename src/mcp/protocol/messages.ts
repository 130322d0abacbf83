// Rejects messages of AI agents that are unsafe or slow to process.

import { isRecord } from '../../lib/is-record.ts';

/**
 * Maximum values of a message besides the arguments of a call. The protocol's package writes a problem of 270 bytes for each value of a wrong type, at
 * 16 µs each. Clients send fewer than 100.
 */
const MAX_VALUES = 200;

/** Maximum length of a message's id, which the response repeats. Clients send numbers or UUIDs. */
const MAX_ID_LENGTH = 256;

/** Returns why a message is not accepted, as a clause; undefined if it is. */
export function findMessageProblem(message: unknown): string | undefined {
  const problem = findJsonProblem(message);
  if (problem !== undefined) {
    return problem;
  }
  if (isRecord(message) && message.id !== undefined && !isId(message.id)) {
    return `has an id that is neither an integer nor a string of at most ${MAX_ID_LENGTH} characters`;
  }
  return hasMoreValues(withoutArguments(message), MAX_VALUES)
    ? `has more than ${MAX_VALUES} values besides the arguments of a call`
    : undefined;
}

const isId = (id: unknown): boolean =>
  Number.isSafeInteger(id) || (typeof id === 'string' && id.length <= MAX_ID_LENGTH);

/** Returns a message without the arguments of a call, which are validated with the operation's variables. */
function withoutArguments(message: unknown): unknown {
  if (!isRecord(message) || message.method !== 'tools/call' || !isRecord(message.params)) {
    return message;
  }
  const { arguments: _, ...params } = message.params;
  return { ...message, params };
}

/** Whether a value contains more values than the limit, itself included. */
function hasMoreValues(value: unknown, limit: number): boolean {
  const pending = [value];
  let count = 0;
  for (; pending.length > 0 && count <= limit; count += 1) {
    const current = pending.pop();
    if (typeof current === 'object' && current !== null) {
      pending.push(...Object.values(current).slice(0, limit));
    }
  }
  return count > limit;
}

/** Maximum levels of nesting in a message. Values of the type JSON may have 32. */
const MAX_DEPTH = 64;

/**
 * Returns why a value can't be part of a call, as a clause; undefined if it can. The protocol's package drops members named `__proto__`, so that GraphQL
 * couldn't reject them. It doesn't recurse, because the value may be nested deeper than the stack.
 */
export function findJsonProblem(value: unknown): string | undefined {
  const pending = [{ value, depth: 0 }];
  for (let entry = pending.pop(); entry !== undefined; entry = pending.pop()) {
    const { value: current, depth } = entry;
    if (typeof current !== 'object' || current === null) {
      continue;
    }
    if (depth === MAX_DEPTH) {
      return `is nested more than ${MAX_DEPTH} levels deep`;
    }
    if (Object.hasOwn(current, '__proto__')) {
      return 'contains the name "__proto__"';
    }
    for (const member of Object.values(current)) {
      pending.push({ value: member, depth: depth + 1 });
    }
  }
  return undefined;
}
