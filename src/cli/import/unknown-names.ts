import { suggest, unknownName } from '../../settings/setting.ts';

/** Matches words. A file without a header, or with wrong quotes, has other texts in the place of names, which can be personal data. */
const NAME = /^[\p{L}_][\p{L}\p{M}\p{N}_ .()-]{0,49}$/u;

/**
 * Returns a phrase such as `the unknown column "emial" (did you mean "email"?)`. Quotes only what can be a name.
 *
 * @param options.place added if the name is not quoted
 */
export const describeUnknown = (
  name: string,
  known: readonly string[],
  { noun, place }: { noun: string; place?: string },
): string =>
  NAME.test(name)
    ? `the ${unknownName(name, known, noun)}`
    : `an unknown ${noun}${place === undefined ? '' : ` (${place})`}`;

/** Whether one of the names is known, or nearly. */
export const hasKnownName = (names: readonly string[], known: readonly string[]): boolean =>
  names.some((name) => known.includes(name) || suggest(name, known) !== '');
