// Writes what the code needs of the service's OpenAPI document: types, endpoints, requests that the sandbox validates, and shapes of responses.

import { readFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';
import { parse } from 'yaml';

/** Part of JSON Schema that the document uses. */
interface Schema {
  $ref?: string;
  oneOf?: Schema[];
  type?: string | string[];
  enum?: string[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
}

interface Operation {
  operationId?: string;
  /** The shipped module that calls it. @default none: the built-in schema does */
  'x-module'?: string;
  responses?: Record<string, { content?: Record<string, { schema: Schema }> }>;
}

type Groups<Member> = Record<string, Record<string, Member>>;

interface Document {
  openapi: string;
  info: object;
  /** Operations by path and method. A path can also have `parameters`. */
  paths: Groups<Operation>;
  components: Groups<Schema>;
}

/** Reads the contract, which `npm run check:openapi` validates. */
export const readContract = (): Document =>
  parse(readFileSync(new URL('../schema/upstream.openapi.yaml', import.meta.url), 'utf8'));

/** Lists operations by their endpoint, such as `GET /v1/feeds/{feedId}`. */
const listOperations = ({ paths }: Pick<Document, 'paths'>): [endpoint: string, operation: Operation][] =>
  Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]): [string, Operation][] =>
      method === 'parameters' ? [] : [[`${method.toUpperCase()} ${path}`, operation]],
    ),
  );

/** Returns a module with the types of the contract's schemas. Its paths are left out, because `endpoints.ts` declares them with their rules. */
export async function writeTypes(): Promise<string> {
  const { openapi, info, components } = readContract();
  return astToString(await openapiTS(JSON.stringify({ openapi, info, components: { schemas: components.schemas } })));
}

/** Returns a module with the endpoints of the service, and their type. */
export function writeEndpoints(): string {
  const endpoints = listOperations(readContract()).map(([endpoint]) => `  '${endpoint}',\n`);
  return `/** Endpoints of the service. */
export const ENDPOINTS = [
${endpoints.join('')}] as const;

/** Endpoint of the service. */
export type Endpoint = (typeof ENDPOINTS)[number];
`;
}

/** Returns the requests as an OpenAPI document in JSON, because parsing YAML would be a sixth of the sandbox's time to start. */
export function writeRequests(): string {
  const { openapi, info, paths, components } = readContract();
  for (const [, operation] of listOperations({ paths })) {
    operation.responses = {};
  }
  return `${JSON.stringify({ openapi, info, paths, components: pickReferenced(paths, components) }, null, 2)}\n`;
}

/** Returns the components that a part of the document refers to, also through other components. */
function pickReferenced(part: unknown, components: Groups<Schema>, picked: Groups<Schema> = {}): Groups<Schema> {
  for (const [, kind = '', name = ''] of JSON.stringify(part).matchAll(/"#\/components\/(\w+)\/(\w+)"/g)) {
    const component = components[kind]?.[name];
    if (component !== undefined && picked[kind]?.[name] === undefined) {
      picked[kind] = { ...picked[kind], [name]: component };
      pickReferenced(component, components, picked);
    }
  }
  return picked;
}

/**
 * Fields that real services add to every record with an `_id`, although the contract lists them only for some: the database's own
 * bookkeeping. Other known differences are part of the contract document, such as workflows without `description`.
 */
const BOOKKEEPING = {
  id: {}, // Copy of `_id`.
  __v: {}, // Revision number.
  createdAt: {},
  updatedAt: {},
  deleted: {}, // Mark of records that can be restored.
  deletedAt: {}, // Present once such a record is deleted.
  deletedBy: {},
};

/**
 * Returns a module with the shapes of the contract's successful responses, to which real responses are compared. They are constants, so that
 * nothing parses the document at run time. Responses to modules are not compared.
 */
export function writeResponses(): string {
  const contract = readContract();
  const builtIn = listOperations(contract).filter(([, operation]) => operation['x-module'] === undefined);
  const shapes = builtIn.flatMap(([endpoint, { responses = {} }]) => {
    const [, success] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
    const body = success?.content?.['application/json']?.schema;
    return body === undefined ? [] : [[JSON.stringify(endpoint), toShape(withoutEnvelope(body))] as const];
  });

  function toShape({ $ref, oneOf, type, enum: values, items, properties, required }: Schema): object {
    if ($ref !== undefined) {
      return toShape(contract.components.schemas?.[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {});
    }
    if (oneOf !== undefined) {
      // The alternatives differ in their types, so that at most one has items.
      const types = oneOf.flatMap((alternative) => alternative.type ?? []);
      return Object.assign({}, ...oneOf.map(toShape), { types });
    }
    const fields = properties && Object.entries(properties).map(([name, field]) => [name, toShape(field)] as const);
    const isRecord = properties !== undefined && '_id' in properties && '_organizationId' in properties;
    return type === undefined
      ? {}
      : {
          types: [type].flat(),
          values,
          required,
          items: items && toShape(items),
          fields: fields && { ...(isRecord && BOOKKEEPING), ...Object.fromEntries(fields) },
        };
  }

  const members = shapes.map(([endpoint, shape]) => `  ${endpoint}: ${JSON.stringify(shape)},\n`).join('');
  return `import type { Shape } from '../declaration/response-form.ts';

/** Shapes of successful responses without their envelope, from the service's OpenAPI document. An endpoint that responds without a body has none. */
export const RESPONSES: Readonly<Partial<Record<string, Shape>>> = {
${members}};
`;
}

/** Returns the schema of the value in the envelope. A body that can have one or not is described by `oneOf`. */
function withoutEnvelope(schema: Schema): Schema {
  const { oneOf: [alternative] = [], properties } = schema;
  if (alternative !== undefined) {
    return withoutEnvelope(alternative);
  }
  return properties?.data !== undefined && Object.keys(properties).length === 1 ? properties.data : schema;
}
