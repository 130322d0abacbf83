// Fields that many types of records and inputs have: ids, names, times, lists of parts, and `extra`, the members that no other field shows.

import type { FieldMap, FieldRef } from '@pothos/core';
import { type GraphQLObjectType, getNullableType, isObjectType } from 'graphql';
import { requireScopes } from '../../graphql/scopes.ts';
import { listOf } from '../../graphql/values.ts';
import { isRecord } from '../../lib/is-record.ts';
import { memoizeByObject } from '../../lib/memoize.ts';
import { NAME } from '../toolkit/arguments.ts';
import type { GraphTypes } from '../toolkit/builder.ts';
import { MASKED, visibleJson } from './masking.ts';

export type Fields<Body> = PothosSchemaTypes.ObjectFieldBuilder<GraphTypes, Body>;

type Members = Record<string, unknown>;

/** Extension of a field that shows other members of the record than the one with its name: `extensions: shows('content')`. */
export const shows = (...members: string[]) => ({ shows: members });

/** Creates the field with the id of a record, which the service sends under two names. */
export const idField = <Body extends { _id?: string; id?: string }>(
  t: Fields<Body>,
  noun: string,
  note = '',
): FieldRef<GraphTypes> =>
  t.id({
    extensions: shows('_id', 'id'),
    ...optional(`The ${noun}'s id, or null if the service sent none.${note}`),
    resolve: ({ _id, id }) => _id ?? id,
  });

/** Creates the fields with the organization and the environment of a record. */
export const ownerFields = (
  t: Fields<{ _organizationId: string; _environmentId: string }>,
  noun: string,
): Record<'organizationId' | 'environmentId', FieldRef<GraphTypes>> => ({
  organizationId: t.exposeID('_organizationId', { description: `The id of the organization that owns the ${noun}.` }),
  environmentId: t.exposeID('_environmentId', {
    description: `The id of the environment that the ${noun} belongs to.`,
  }),
});

/** Options of a field that can be null. */
export const optional = (description: string) => ({ nullable: true, description }) as const;

/** Options of a field with a time, or null. */
export const time = (description: string) => ({ type: 'DateTime', nullable: true, description }) as const;

/** Creates the field with an object that the service sent, or null. Browsers don't see credentials in it. */
export const jsonField = <Body>(
  t: Fields<Body>,
  description: string,
  partOf: (record: Body) => Record<string, unknown> | null | undefined,
): FieldRef<GraphTypes> =>
  t.field({
    type: 'JSONObject',
    ...optional(`${description} ${MASKED}`),
    resolve: (record, _args, { identity }) => visibleJson(partOf(record), identity),
  });

/**
 * Creates the fields of a content, which is a text or a list of blocks.
 *
 * @param show returns the text as a client may see it
 */
export const contentFields = <Body extends { content?: string | readonly object[] | null }>(
  t: Fields<Body>,
  description: string,
  show: typeof visibleJson,
): FieldMap => ({
  content: t.string({
    ...optional(`${description} Null if the content is in \`contentBlocks\`.`),
    resolve: ({ content }, _args, { identity }) => (typeof content === 'string' ? show(content, identity) : null),
  }),
  contentBlocks: t.field({
    type: ['JSONObject'],
    extensions: shows('content'),
    ...optional('The blocks of an email made with the visual editor. Null if the content is in `content`.'),
    resolve: ({ content }, _args, { identity }) =>
      Array.isArray(content) ? content.map((block) => visibleJson(block, identity)) : null,
  }),
});

/** Creates the field with a list of parts of a record, which is empty if the service sent none. */
export const listField = <Name extends string, Part, Body extends { readonly [N in Name]?: readonly Part[] | null }>(
  t: Fields<Body>,
  name: Name,
  type: PothosSchemaTypes.ObjectRef<GraphTypes, Part> | 'JSON',
  description: string,
): FieldRef<GraphTypes> =>
  t.field({
    type: [type],
    description,
    resolve: (record, _args, { identity }) =>
      type === 'JSON' ? listOf(record[name]).map((item) => visibleJson(item, identity)) : listOf(record[name]),
  });

/**
 * Creates the field `extra` of a type, which requires the scope `<noun>:extra`: `extra: extraField(t, 'workflows')`.
 *
 * @param isShown whether the fields show a member of this record. @default all that they show in some records
 * @param hidden members that nobody sees. @default none
 */
export function extraField<Body extends object>(
  t: Fields<Body>,
  noun: string,
  isShown: (record: Body, member: string) => boolean = () => true,
  hidden: readonly string[] = [],
): FieldRef<GraphTypes> {
  const extraOf = memoizeByObject((record: Body & Members, type: GraphQLObjectType) =>
    collect(record, type, (member) => isShown(record, member), hidden),
  );
  return t.field({
    type: 'JSONObject',
    extensions: requireScopes(`${noun}:extra`),
    ...optional(`The members that no other field shows, as sent by the service. Null if there are none. ${MASKED}`),
    resolve(record, _args, { identity }, { parentType }) {
      const extra = isRecord(record) ? extraOf(record, parentType) : null;
      return visibleJson(extra, identity, 'likely', record);
    },
  });
}

/** Returns the members of a record that no field shows, except hidden ones; null if there are none. Those of its parts are below their names. */
function collect(
  record: Members,
  type: GraphQLObjectType,
  isShown = (_member: string): boolean => true,
  hidden: readonly string[] = [],
): Members | null {
  const fields = fieldsByMember(type);
  const extra: [string, unknown][] = [];
  // A record can have 100,000 other members, so that each list counts.
  for (const member of Object.keys(record)) {
    const value = record[member];
    const field = fields.get(member);
    if (field === undefined || !isShown(member)) {
      if (member !== '__typename' && !hidden.includes(member)) {
        extra.push([member, value]); // Federation adds the other one.
      }
      continue;
    }
    const part = getNullableType(field.type);
    const inner = isPart(part) && isRecord(value) ? collect(value, part) : null;
    if (inner !== null) {
      extra.push([member, inner]);
    }
  }
  return extra.length === 0 ? null : Object.fromEntries(extra);
}

/** Whether values of a type are parts of records without their own `extra`. Types with a scope are other records. Lists would take too long. */
const isPart = (type: unknown): type is GraphQLObjectType =>
  isObjectType(type) && !('extra' in type.getFields()) && type.extensions.scope === undefined;

/** Returns the fields of a type by the members that they show: those they declare, the one they expose, or the one with their name. */
const fieldsByMember = memoizeByObject((type: GraphQLObjectType) => {
  const fields = Object.values(type.getFields()).filter(({ name }) => name !== 'extra');
  return new Map(
    fields.flatMap((field) => {
      const { shows, pothosExposedField: exposed = field.name } = field.extensions;
      return (Array.isArray(shows) ? shows : [exposed]).map((member): [unknown, typeof field] => [member, field]);
    }),
  );
});

/** Creates the input field of a name, which must not be blank: the service stores that, and nobody sees such a record. */
export const nameField = (t: PothosSchemaTypes.InputFieldBuilder<GraphTypes, 'InputObject'>, description: string) =>
  t.string({ required: true, extensions: NAME, description: `${description} It must not be blank.` });
