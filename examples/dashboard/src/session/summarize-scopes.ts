const NOUNS: Readonly<Record<string, string>> = { stats: 'statistics' };

/** Nouns that the app deletes but never changes. */
const ONLY_DELETED = ['messages'];

/** `stats:read groups:read groups:write messages:write` becomes "Sees statistics, groups. Changes groups. Deletes messages." */
export function summarizeScopes(scopes: readonly string[]): string {
  const nounsWith = (action: string) =>
    scopes
      .filter((scope) => scope.endsWith(`:${action}`))
      .map((scope) => scope.slice(0, scope.indexOf(':')))
      .map((noun) => NOUNS[noun] ?? noun);
  const read = nounsWith('read');
  const written = nounsWith('write').filter((noun) => !ONLY_DELETED.includes(noun));
  const deleted = nounsWith('write').filter((noun) => ONLY_DELETED.includes(noun));
  return [
    read.length > 0 ? `Sees ${read.join(', ')}.` : 'Sees nothing.',
    written.length > 0 ? `Changes ${written.join(', ')}.` : 'Changes nothing.',
    ...(deleted.length > 0 ? [`Deletes ${deleted.join(', ')}.`] : []),
  ].join(' ');
}
