// Writes operations as commands and programs.

import { parse, print, separateOperations } from 'graphql';
import type { PageOperation, Scheme } from '../../../src/graphiql/page-config.ts';
import { quoteForShell } from '../../../src/lib/text.ts';

interface SnippetCredential {
  scheme: Scheme;
  /** The sandbox's key. Code has a variable of the environment in place of any other. */
  publicKey: string | undefined;
}

export interface SnippetRequest extends SnippetCredential {
  url: string;
  query: string;
  variables: Record<string, unknown> | undefined;
}

/** Returns the operation with this name and its fragments if a text has several operations, otherwise the text. */
export function selectOperation(text: string, name = ''): string {
  try {
    const operations = separateOperations(parse(text));
    const operation = operations[name];
    return operation === undefined || Object.keys(operations).length === 1 ? text : print(operation);
  } catch {
    return text; // The gateway reports the syntax error.
  }
}

/** Names of the variables in place of credentials. */
export const VARIABLES = { ApiKey: 'NOTIGRAPH_KEY', Bearer: 'NOTIGRAPH_TOKEN' } as const satisfies Record<
  Scheme,
  string
>;

const inShell = ({ scheme, publicKey }: SnippetCredential): string =>
  publicKey === undefined
    ? `"Authorization: ${scheme} $${VARIABLES[scheme]}"`
    : quoteForShell(`Authorization: ${scheme} ${publicKey}`);

const inProgram = ({ scheme, publicKey }: SnippetCredential): string =>
  publicKey === undefined
    ? `\`${scheme} \${process.env.${VARIABLES[scheme]}}\``
    : JSON.stringify(`${scheme} ${publicKey}`);

/** Replaces the placeholder of the service's key in a curl command of the gateway. */
export const withKey = (command: string, publicKey: string | undefined): string =>
  command.replace("'Authorization: ApiKey ***'", () => inShell({ scheme: 'ApiKey', publicKey }));

export const toCurl = ({ url, query, variables, ...credential }: SnippetRequest): string =>
  [
    `curl ${quoteForShell(url)}`,
    `--header ${inShell(credential)}`,
    "--header 'Content-Type: application/json'",
    `--data-raw ${quoteForShell(JSON.stringify({ query, variables }))}`,
  ].join(' \\\n  ');

export const toFetch = ({ url, query, variables, ...credential }: SnippetRequest): string =>
  `const response = await fetch(${JSON.stringify(url)}, {
  method: "POST",
  headers: { authorization: ${inProgram(credential)}, "content-type": "application/json" },
  body: JSON.stringify(${toLiteral({ query, variables }).replaceAll('\n', '\n  ')}),
});
console.log(await response.json());
`;

/** Returns a program with the typed client. A shipped operation is imported with its types. */
export function toClient(
  { url, query, variables, ...credential }: SnippetRequest,
  operations: readonly PageOperation[],
): string {
  const shipped = operations.find((operation) => operation.query.trim() === query.trim());
  const document = shipped && `${shipped.name}Document`;
  const names = ['createClient', ...(document === undefined ? [] : [document])];
  const args = [document ?? JSON.stringify(query), ...(variables === undefined ? [] : [toLiteral(variables)])];
  return `import { ${names.join(', ')} } from "notigraph/client";

const notigraph = createClient({ url: ${JSON.stringify(url)}, authorization: ${inProgram(credential)} });
const { data, errors } = await notigraph.request(${args.join(', ')});
console.log(errors ?? data);
`;
}

const toLiteral = (value: object): string => JSON.stringify(value, null, 2);
