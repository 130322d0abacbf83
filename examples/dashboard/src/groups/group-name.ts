// Checks names of groups before they are sent, and suggests free ones.

/** A problem with a name, and a free name to use instead. */
export interface NameProblem {
  message: string;
  suggestion?: string;
}

/** Returns the name without spaces around it, and single ones inside. */
export const cleanName = (name: string): string => name.trim().replace(/\s+/g, ' ');

const keyOf = (name: string): string => cleanName(name).toLocaleLowerCase();

/** Returns the problem with a name, if any, before it is sent. People take "Billing" and "billing " for the same group. */
export function problemOfName(name: string, taken: readonly string[]): NameProblem | undefined {
  const clean = cleanName(name);
  if (clean === '') {
    return { message: 'Enter a name.' };
  }
  const existing = taken.find((other) => keyOf(other) === keyOf(clean));
  return existing === undefined
    ? undefined
    : { message: `“${existing}” already exists.`, suggestion: suggestName(existing, taken) };
}

/** Returns the name with the next free number: `Billing 2`, and `Billing 3` for `Billing 2`. */
export function suggestName(name: string, taken: readonly string[]): string {
  const keys = new Set([name, ...taken].map(keyOf));
  const [, base = name, number = '1'] = /^(.*?)(?: (\d{1,4}))?$/.exec(cleanName(name)) ?? [];
  for (let next = Number(number) + 1; ; next += 1) {
    const candidate = `${base} ${next}`;
    if (!keys.has(keyOf(candidate))) {
      return candidate;
    }
  }
}
