import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { isRecord } from '../src/lib/is-record.ts';
import type { JsonType, Shape } from '../src/upstream/shape.ts';

/**
 * Fields that real services add to every record with an `_id`, although the contract lists them only for some: the database's own
 * bookkeeping. Other known differences are part of the contract document, such as workflows without `description`.
 */
const BOOKKEEPING: Readonly<Record<string, string>> = {
  id: 'copy of `_id`',
  __v: 'revision number',
  createdAt: 'added by the database to every record',
  updatedAt: 'added by the database to every record',
  deleted: 'mark of records that can be restored',
  deletedAt: 'present once such a record is deleted',
  deletedBy: 'present once such a record is deleted',
};

const FREE_BOOKKEEPING = Object.fromEntries(Object.keys(BOOKKEEPING).map((name) => [name, {}]));

type Schema = Record<string, unknown>;

/** Shape whose parts can refer to another shape by name. */
type ShapeCode = Omit<Shape, 'items' | 'fields'> & {
  items?: ShapeCode;
  fields?: Record<string, ShapeCode>;
  ref?: string;
};

/**
 * Returns a module with the shapes of the OpenAPI document's successful responses, to which real responses are compared. They are
 * constants, so that nothing parses the document at run time.
 *
 * @throws {Error} if the document uses a part of JSON Schema that shapes don't have
 */
export function writeUpstreamResponses(file: URL): string {
  const document: Schema = parse(readFileSync(file, 'utf8'));
  const schemas = recordAt(document, 'components', 'schemas');
  const written = new Map<string, string>();

  /** Writes the constant of a schema of the document, after those that it refers to. */
  function write(name: string): void {
    if (!written.has(name)) {
      written.set(name, ''); // A schema that refers to itself would be used before its definition, which the compiler rejects.
      const code = print(toShape(recordAt(schemas, name)));
      written.delete(name);
      written.set(name, `const ${name}: Shape = ${code};\n`);
    }
  }

  function print({ ref, items, fields, ...leaf }: ShapeCode): string {
    if (ref !== undefined) {
      write(ref);
      return ref;
    }
    const members = Object.entries(leaf).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
    if (items !== undefined) {
      members.push(`items: ${print(items)}`);
    }
    if (fields !== undefined) {
      const lines = Object.entries(fields).map(([name, field]) => `    ${JSON.stringify(name)}: ${print(field)},\n`);
      members.push(`fields: {\n${lines.join('')}  }`);
    }
    return `{ ${members.join(', ')} }`;
  }

  const shapes = Object.entries(recordAt(document, 'paths')).flatMap(([route, item]) =>
    Object.entries(toRecord(item)).flatMap(([method, operation]) => {
      const body = successBody(operation);
      const endpoint = `${method.toUpperCase()} ${route}`;
      return body === undefined ? [] : `  ${JSON.stringify(endpoint)}: ${print(toShape(withoutEnvelope(body)))},\n`;
    }),
  );
  return `import type { Shape } from '../shape.ts';

${[...written.values()].join('\n')}
/** Shapes of successful responses without their envelope, from the service's OpenAPI document. An endpoint that responds without a body has none. */
export const RESPONSES = {
${shapes.join('')}} satisfies Readonly<Record<string, Shape>>;
`;
}

/** Returns the schema of an operation's successful response; undefined if it has no body, or if the member is no operation. */
function successBody(operation: unknown): Schema | undefined {
  const responses = isRecord(operation) ? Object.entries(toRecord(operation.responses ?? {})) : [];
  const [, success] = responses.find(([status]) => status.startsWith('2')) ?? [];
  return isRecord(success) && 'content' in success
    ? recordAt(success, 'content', 'application/json', 'schema')
    : undefined;
}

/** Returns the schema of the value in the envelope. A body that can have one or not is described by `oneOf`. */
function withoutEnvelope(schema: Schema): Schema {
  if (Array.isArray(schema.oneOf)) {
    const [first = {}] = schema.oneOf.map((alternative) => withoutEnvelope(toRecord(alternative)));
    return first;
  }
  return isRecord(schema.properties) && Object.keys(schema.properties).join() === 'data'
    ? recordAt(schema.properties, 'data')
    : schema;
}

function toShape(schema: Schema): ShapeCode {
  const { $ref, oneOf, type, enum: values, items, properties, required } = schema;
  if (typeof $ref === 'string') {
    return { ref: $ref.slice($ref.lastIndexOf('/') + 1) };
  }
  if (Array.isArray(oneOf)) {
    // The alternatives differ in their types, so that at most one has items.
    const alternatives = oneOf.map((alternative) => toShape(toRecord(alternative)));
    return Object.assign({}, ...alternatives, { types: alternatives.flatMap(({ types = [] }) => types) });
  }
  if (type === undefined) {
    return {};
  }
  return {
    types: [type].flat().filter(isJsonType),
    ...(Array.isArray(values) && { values: values.map(String) }),
    ...(isRecord(items) && { items: toShape(items) }),
    ...(isRecord(properties) && { fields: withBookkeeping(mapValues(properties, toShape)) }),
    ...(Array.isArray(required) && { required: required.map(String) }),
  };
}

const withBookkeeping = (fields: Record<string, ShapeCode>): Record<string, ShapeCode> =>
  '_id' in fields && '_organizationId' in fields ? { ...FREE_BOOKKEEPING, ...fields } : fields;

const JSON_TYPES: readonly unknown[] = [
  'string',
  'number',
  'boolean',
  'object',
  'array',
  'null',
] satisfies readonly JsonType[];

function isJsonType(type: unknown): type is JsonType {
  if (!JSON_TYPES.includes(type)) {
    throw new Error(`The type ${JSON.stringify(type)} is not supported in responses of the OpenAPI document.`);
  }
  return true;
}

function toRecord(value: unknown): Schema {
  if (!isRecord(value)) {
    throw new Error(`Expected an object in the OpenAPI document, not ${JSON.stringify(value)}.`);
  }
  return value;
}

const recordAt = (value: unknown, ...path: readonly string[]): Schema =>
  path.reduce((inner, name) => toRecord(inner[name]), toRecord(value));

const mapValues = <T>(members: Readonly<Record<string, unknown>>, change: (value: Schema) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, change(toRecord(value))]));
