import { readFileSync } from 'node:fs';
import {
  buildSchema,
  findBreakingChanges,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isSpecifiedDirective,
  isSpecifiedScalarType,
  lexicographicSortSchema,
  printSchema,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { createSchema } from '../../src/modules/schema.ts';
import { shippedSchema } from '../support/shipped-documents.ts';

const read = (file: string) => readFileSync(new URL(`../../schema/${file}`, import.meta.url), 'utf8');

const schema = lexicographicSortSchema(createSchema());

/** Returns the coordinates and descriptions of all named members of the schema. */
function* members(): Generator<[coordinates: string, name: string, description: string | null | undefined]> {
  for (const type of Object.values(shippedSchema.getTypeMap())) {
    if (type.name.startsWith('__') || isSpecifiedScalarType(type)) {
      continue;
    }
    yield [type.name, type.name, type.description];
    if (isEnumType(type)) {
      for (const value of type.getValues()) {
        yield [`${type.name}.${value.name}`, value.name, value.description];
      }
    }
    if (isObjectType(type) || isInterfaceType(type) || isInputObjectType(type)) {
      for (const field of Object.values(type.getFields())) {
        yield [`${type.name}.${field.name}`, field.name, field.description];
        for (const arg of 'args' in field ? field.args : []) {
          yield [`${type.name}.${field.name}(${arg.name}:)`, arg.name, arg.description];
        }
      }
    }
  }
}

describe('the schema', () => {
  it('matches schema/schema.graphql', () => {
    expect(`${printSchema(schema)}\n`).toBe(read('schema.graphql'));
  });

  it('has no breaking change since the last release', () => {
    expect(findBreakingChanges(buildSchema(read('released.graphql')), shippedSchema)).toEqual([]);
  });

  it('describes every type, field, argument and enum value', () => {
    const undescribed = [...members()].filter(([, , description]) => !description?.trim()).map(([where]) => where);
    expect(undescribed).toEqual([]);
  });

  it('describes itself: authentication, errors, null, ids, and where its guides are', () => {
    const description = schema.description ?? '';
    expect(description.match(/(?<=^\*\*)\w+/gm)).toEqual(['Authentication', 'Errors', 'Null', 'Ids']);
    for (const part of ['`ApiKey <key>`', '`Bearer <token>`', '`... on MutationError { code message }`', '/docs']) {
      expect(description).toContain(part);
    }
  });

  it('describes members in sentences, without names of the service or questions', () => {
    const unclear = [...members()].filter(
      ([, , description]) =>
        !/\.$/.test(description ?? '') ||
        /^(?:What|Who|Whose|Where|When|How)\b|\b_{1,2}\w|\b[a-z]+_id\b/.test(description ?? ''),
    );
    expect(unclear.map(([where, , description]) => `${where}: ${description}`)).toEqual([]);
  });

  it('describes the scope of every type and field that requires one', () => {
    const types = Object.values(schema.getTypeMap()).filter(isObjectType);
    const described = types
      .flatMap((type) => [type, ...Object.values(type.getFields())])
      .flatMap((part) => {
        const scope = part.extensions.scope ?? ('type' in part ? getNamedType(part.type).extensions.scope : undefined);
        return scope === undefined ? [] : [[part.description, scope] as const];
      });
    expect(described.length).toBeGreaterThan(20);
    for (const [description, scope] of described) {
      expect(description).toMatch(new RegExp(`[^\n]\n\nToken scope: \`${scope}\`\\.$`));
    }
  });

  it('exposes no internal names of the service, such as those with a leading underscore, Controller or Dto', () => {
    const names = [...members()].map(([, name]) => name);
    expect(names.length).toBeGreaterThan(200);
    expect(names.filter((name) => /^_|Controller|Dto$/i.test(name))).toEqual([]);
  });

  it('makes every field that costs an upstream call nullable', () => {
    const roots = [schema.getQueryType(), schema.getMutationType()];
    const fields = roots.flatMap((root) => Object.values(root?.getFields() ?? {}));
    expect(fields.filter(({ type }) => String(type).endsWith('!'))).toEqual([]);
    const workflow = schema.getType('Workflow');
    expect(isObjectType(workflow) && String(workflow.getFields().notificationGroup?.type)).toBe('NotificationGroup');
  });

  it('names the REST call of every root field', () => {
    const roots = [schema.getQueryType(), schema.getMutationType()];
    for (const field of roots.flatMap((root) => Object.values(root?.getFields() ?? {}))) {
      expect(field.description).toMatch(/\b(GET|POST|PUT|PATCH|DELETE) \/v1\//);
      expect(getNamedType(field.type).description).toBeTruthy();
    }
  });

  it('has no custom directives', () => {
    expect(schema.getDirectives().filter((directive) => !isSpecifiedDirective(directive))).toEqual([]);
  });
});
