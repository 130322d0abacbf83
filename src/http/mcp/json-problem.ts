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
