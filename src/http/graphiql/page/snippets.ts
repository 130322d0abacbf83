import { parse, print, separateOperations } from 'graphql';
import { quoteForShell } from '../../../lib/quote-for-shell.ts';
import type { PageOperation, Scheme } from '../page-config.ts';

/** Request to write as code. The code has `***` in place of the credential. */
export interface SnippetRequest {
  url: string;
  scheme: Scheme;
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

/** Returns a curl command for POSIX shells. */
export const toCurl = ({ url, scheme, query, variables }: SnippetRequest): string =>
  [
    `curl ${quoteForShell(url)}`,
    `--header 'Authorization: ${scheme} ***'`,
    "--header 'Content-Type: application/json'",
    `--data-raw ${quoteForShell(JSON.stringify({ query, variables }))}`,
  ].join(' \\\n  ');

/** Returns a call of `fetch`, for modules. */
export const toFetch = ({ url, scheme, query, variables }: SnippetRequest): string =>
  `const response = await fetch(${JSON.stringify(url)}, {
  method: "POST",
  headers: { authorization: "${scheme} ***", "content-type": "application/json" },
  body: JSON.stringify(${toLiteral({ query, variables }).replaceAll('\n', '\n  ')}),
});
console.log(await response.json());
`;

/** Returns a program with the typed client. A shipped operation is imported with its types. */
export function toClient(
  { url, scheme, query, variables }: SnippetRequest,
  operations: readonly PageOperation[],
): string {
  const shipped = operations.find((operation) => operation.query.trim() === query.trim());
  const document = shipped && `${shipped.name}Document`;
  const names = ['createClient', ...(document === undefined ? [] : [document])];
  const args = [document ?? JSON.stringify(query), ...(variables === undefined ? [] : [toLiteral(variables)])];
  return `import { ${names.join(', ')} } from "notigraph/client";

const notigraph = createClient({ url: ${JSON.stringify(url)}, authorization: "${scheme} ***" });
const { data, errors } = await notigraph.request(${args.join(', ')});
console.log(errors ?? data);
`;
}

const toLiteral = (value: object): string => JSON.stringify(value, null, 2);
