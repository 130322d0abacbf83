// Reads values of unknown form as objects and lists.

/** Whether a value is an object, but not null or an array. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the members of an object; none of any other value. */
export const recordOf = (value: unknown): Readonly<Record<string, unknown>> => (isRecord(value) ? value : {});

/** Returns the items of a list; none of any other value. */
export const arrayOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
