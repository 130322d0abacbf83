// Reads the operations that ship with the gateway, and their examples.

import { readdirSync, readFileSync } from 'node:fs';
import { type GraphQLSchema, parse, validate } from 'graphql';
import { InstallationError, packageUrl } from '../lib/installation.ts';
import type { Manifest } from './manifest.ts';

/** Named operation that ships with the gateway, with an example that works on the sandbox. */
export interface ShippedOperation {
  name: string;
  /** First line of the file, without the comment mark. */
  description: string;
  /** Text of the operation, without the example. */
  query: string;
  variables?: string;
  /** REST calls made by the example, such as `POST /v1/feeds`. A trailing `*` stands for any number of different calls. */
  calls: readonly string[];
}

/**
 * Reads the operations in `schema/operations`, and those of shipped modules. Queries come before mutations, and those without variables first.
 *
 * @param schema schema that selects the operations of modules. @default none of them
 * @throws {InstallationError} if they can't be read
 */
export function loadOperations(schema?: GraphQLSchema): ShippedOperation[] {
  return [...readOperations('schema/operations/'), ...(schema === undefined ? [] : readModuleOperations(schema))].sort(
    (a, b) => rankOf(a) - rankOf(b),
  );
}

/** Returns the operations as a manifest, with their descriptions as comments. */
export const shippedManifest = (schema?: GraphQLSchema): Manifest =>
  Object.fromEntries(loadOperations(schema).map(({ name, query }) => [name, query]));

/** Reads the operations of shipped modules whose fields are in a schema. */
const readModuleOperations = (schema: GraphQLSchema): ShippedOperation[] =>
  readOperations('schema/module-operations/').filter(({ query }) => validate(schema, parse(query)).length === 0);

/** Reads the operations of a folder, in the order of the names of their files. */
function readOperations(path: string): ShippedOperation[] {
  const folder = packageUrl(path);
  try {
    const files = readdirSync(folder).filter((file) => file.endsWith('.graphql'));
    return files.sort().map((file) => ({
      name: file.slice(0, -'.graphql'.length),
      ...parseFile(readFileSync(new URL(file, folder), 'utf8')),
    }));
  } catch (error) {
    throw new InstallationError(folder, error);
  }
}

const rankOf = ({ query, variables }: ShippedOperation): number =>
  /^mutation\b/m.test(query) ? 2 : Number(variables !== undefined);

/**
 * Splits a file into the operation and its example, a comment at the end:
 *
 *     # Example
 *     #   variables: { "input": { "name": "News" } }
 *     #   calls: POST /v1/feeds
 */
function parseFile(text: string): Omit<ShippedOperation, 'name'> {
  const [query = '', example = ''] = text.split(/^(?=\n# Example\n)/m, 2);
  const entries = example.replace(/^# {0,3}/gm, '').split(/^(?=(?:variables|calls): )/m);
  const read = (key: string): string[] =>
    entries.flatMap((entry) => (entry.startsWith(`${key}: `) ? entry.slice(key.length + 2).trim() : []));
  const [variables] = read('variables');
  const [, description = ''] = /^# (.*)/.exec(query) ?? [];
  return {
    description,
    query,
    ...(variables !== undefined && { variables: JSON.stringify(JSON.parse(variables), null, 2) }),
    calls: read('calls'),
  };
}
