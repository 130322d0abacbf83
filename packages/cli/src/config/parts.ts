// Walks over a configuration with its schema, and finds the parts that are secrets, files or addresses.

import { z } from 'zod';
import { isRecord } from '../../../../src/lib/is-record.ts';
import { declaredKind } from '../../../../src/settings/kinds.ts';

/** Part of a configuration, valid or not. */
export interface Part {
  /** Names, and indexes of lists. */
  path: readonly string[];
  value: unknown;
  /** Schemas of all forms that the value can have, whichever it has. */
  forms: readonly z.ZodType[];
}

/** Part with a kind. */
export type PartOfKind = Part & NonNullable<ReturnType<typeof declaredKind>>;

/** Returns a configuration as a part, of which the settings are the members. */
export const partOf = (schema: z.ZodType, value: unknown): Part => ({ path: [], value, forms: formsOf(schema) });

/** Returns a part with its kind; undefined if it has none. */
export function withKind(part: Part): PartOfKind | undefined {
  const found = part.forms.map(declaredKind).find((each) => each !== undefined);
  return found && { ...part, ...found };
}

/** Returns the members of a section, a list, or an object by name. */
export const membersOf = ({ path: parent, value, forms }: Part): Part[] =>
  Array.isArray(value) || isRecord(value)
    ? Object.entries(value).map(([name, member]) => ({
        path: [...parent, name],
        value: member,
        forms: forms.flatMap((form) => formsOf(memberSchema(form, name))),
      }))
    : [];

/** Returns the value of a part, in which other values are in place of those for which `replace` returns one. */
export function replaceIn(part: Part, replace: (part: Part) => unknown): unknown {
  const replaced = replace(part);
  if (replaced !== undefined) {
    return replaced;
  }
  const members = membersOf(part).map((member) => [member.path.at(-1), replaceIn(member, replace)] as const);
  if (Array.isArray(part.value)) {
    return members.map(([, member]) => member);
  }
  return isRecord(part.value) ? Object.fromEntries(members) : part.value;
}

/** Returns the parts with a kind inside of a part, also inside of invalid settings. */
export function findPartsOfKinds(part: Part): PartOfKind[] {
  const found = withKind(part);
  return [...(found === undefined ? [] : [found]), ...membersOf(part).flatMap(findPartsOfKinds)];
}

/** Returns a schema, and those inside of it that describe the same value. */
export const formsOf = (schema: unknown): z.ZodType[] =>
  schema instanceof z.ZodType ? [schema, ...listInner(schema).flatMap(formsOf)] : [];

function listInner(schema: z.ZodType): readonly unknown[] {
  if (schema instanceof z.ZodUnion) {
    return schema.options;
  }
  if (schema instanceof z.ZodPipe) {
    return [schema.in];
  }
  return schema instanceof z.ZodExactOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault
    ? [schema.unwrap()]
    : [];
}

function memberSchema(form: z.ZodType, name: string): unknown {
  if (form instanceof z.ZodArray) {
    return form.element;
  }
  if (form instanceof z.ZodObject) {
    return Object.hasOwn(form.shape, name) ? form.shape[name] : undefined;
  }
  return form instanceof z.ZodRecord ? form.valueType : undefined;
}
