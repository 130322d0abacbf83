import { VERSION } from '../lib/version.ts';
import type { Config } from './config/load-config.ts';

/**
 * Writes the text that is printed at startup.
 *
 * @param authorization the sandbox's `Authorization` header; undefined with a real service
 */
export function banner(
  url: string,
  { graphiql, upstream, clients }: Config,
  authorization: string | undefined,
): string {
  const { server, browser } = clients;
  const source =
    upstream.kind === 'service'
      ? upstream.url.href
      : `built-in sandbox, ${upstream.file === ':memory:' ? 'data is kept in memory' : `data is kept in ${upstream.file}`}`;
  const kinds = [
    ...(server === false ? [] : ['servers with a key']),
    ...(browser === undefined ? [] : ['browsers with a token']),
  ];
  const key = `-H 'Authorization: ${authorization ?? 'ApiKey <your key>'}'`;
  const query = '{"query":"{ notificationGroups { id name } }"}';
  return [
    `Notigraph ${VERSION}`,
    '',
    `  GraphQL    ${url}`,
    `  GraphiQL   ${graphiql ? `${url} in a browser` : 'off (--graphiql on)'}`,
    `  Upstream   ${source}`,
    `  Clients    ${kinds.join(', ')}`,
    '',
    ...(server === false
      ? []
      : ['Try it:', '', `  curl -s ${url} ${key} -H 'Content-Type: application/json' -d '${query}'`, '']),
    '',
  ].join('\n');
}
