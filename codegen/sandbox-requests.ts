import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { isRecord } from '../src/lib/is-record.ts';

type Components = Record<string, Record<string, unknown>>;

/**
 * Returns a module with the requests of OpenAPI documents, which the sandbox validates. They are a constant, because parsing YAML would be a sixth of
 * the sandbox's time to start.
 *
 * @param files the contract, and documents of further endpoints
 */
export function writeSandboxRequests(...files: readonly URL[]): string {
  const documents = files.map((file): Record<string, unknown> => parse(readFileSync(file, 'utf8')));
  const [{ openapi, info } = {}] = documents;
  const requests = documents.map(({ paths }) => mapValues(paths, (item) => mapValues(item, withoutResponses)));
  const components = documents.reduce(
    (picked: Components, document, i) => pickReferenced(requests[i], document.components, picked),
    {},
  );
  const document = { openapi, info, paths: requests.reduce(mergePaths, {}), components };
  return `import type { Document } from 'openapi-backend';

/** The requests of the service's OpenAPI documents. */
export const REQUESTS: Document = ${JSON.stringify(document, null, 2)};
`;
}

/** Adds the paths of another document. A path in both has the operations of both. */
function mergePaths(paths: unknown, added: unknown): unknown {
  const merged = new Map(Object.entries(paths ?? {}));
  for (const [path, item] of Object.entries(added ?? {})) {
    merged.set(path, { ...merged.get(path), ...item });
  }
  return Object.fromEntries(merged);
}

/** Empties the responses of an operation. Other members of a path, such as its parameters, stay. */
const withoutResponses = (member: unknown): unknown =>
  isRecord(member) && 'operationId' in member ? { ...member, responses: {} } : member;

/** Returns the components that a part of the document refers to, also through other components. */
function pickReferenced(part: unknown, components: unknown, picked: Components = {}): Components {
  for (const [, kind = '', name = ''] of JSON.stringify(part).matchAll(/"#\/components\/(\w+)\/(\w+)"/g)) {
    picked[kind] ??= {};
    const group = picked[kind];
    if (!(name in group)) {
      group[name] = memberOf(memberOf(components, kind), name);
      pickReferenced(group[name], components, picked);
    }
  }
  return picked;
}

const memberOf = (value: unknown, name: string): unknown => (isRecord(value) ? value[name] : undefined);

const mapValues = (value: unknown, change: (member: unknown) => unknown): unknown =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, change(member)])) : value;
