const NOUNS: Readonly<Record<string, string>> = { stats: 'statistics' };

/** `stats:read groups:read groups:write` becomes "Sees statistics, groups. Changes groups." */
export function summarizeScopes(scopes: readonly string[]): string {
  const nounsWith = (action: string) =>
    scopes
      .filter((scope) => scope.endsWith(`:${action}`))
      .map((scope) => scope.slice(0, scope.indexOf(':')))
      .map((noun) => NOUNS[noun] ?? noun);
  const read = nounsWith('read');
  const written = nounsWith('write');
  return [
    read.length > 0 ? `Sees ${read.join(', ')}.` : 'Sees nothing.',
    written.length > 0 ? `Changes ${written.join(', ')}.` : 'Changes nothing.',
  ].join(' ');
}
