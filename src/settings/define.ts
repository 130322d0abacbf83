// Defines settings: their schemas, documentation and names.

import { z } from 'zod';
import { listAll, listAny, unknownSetting } from '../lib/words.ts';

export interface SettingGroup {
  title: string;
  /** Whether changes take effect only after a restart: what the process and its server use is read at startup. */
  needsRestart: boolean;
  /** Whether its settings are sections, which only a configuration file can have. @default false */
  isSections?: boolean;
  settings: Readonly<Record<string, z.ZodType>>;
}

/** Documentation of a setting. Its type, range and default are in its schema; its unit is the end of its name. */
export interface SettingInfo {
  /** Noun phrase in Markdown. Ends with a period. */
  description: string;
  /** Placeholder of the value, such as `PORT`. Makes the setting an option of the command. */
  flag?: string;
  /** Letter of the option's short form. @default none */
  short?: string;
  /** Default in words, for settings whose default is computed. @default `none` for optional settings */
  defaultText?: string;
  /** Values that editors offer. */
  examples?: readonly unknown[];
  /** Changes take effect without a restart, unlike those of other settings in its group. @default as for the group */
  needsRestart?: false;
}

/** Documentation of every setting, by its schema. */
export const SETTING_INFO = z.registry<SettingInfo>();

export function setting<Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  info: Partial<SettingInfo> = {},
): Schema {
  const usual = schema instanceof z.ZodExactOptional && { defaultText: 'none' };
  SETTING_INFO.add(schema, { description, ...usual, ...info });
  return schema;
}

export function integer(min: number, max: number, problem = `must be a whole number from ${min} to ${max}`) {
  return z.int(problem).min(min, problem).max(max, problem);
}

/** Number in a range, which may have a fraction. */
export function number(min: number, max: number, problem = `must be a number from ${min} to ${max}`) {
  return z.number(problem).min(min, problem).max(max, problem);
}

/** Text of at least one character. */
export const text = () => z.string('must be a string').min(1, 'must not be empty');

/** Text that a pattern matches. @param problem clause about any other value */
export const matching = (pattern: RegExp, problem: string) => z.string(problem).regex(pattern, problem);

/** Text that is valid. @param problem clause about any other value */
export const textThat = (isValid: (text: string) => boolean, problem: string) =>
  z.string(problem).refine(isValid, problem);

/** Switch: true or false, or in words. */
export const onOff = () =>
  z
    .union([z.boolean(), choice(['on', 'off'])], SWITCH_PROBLEM)
    .transform((value): boolean => value === true || value === 'on');

/** Documents a switch in a section that is off by default. */
export const offByDefault = (description: string) => setting(onOff().prefault(false), description);

const SWITCH_PROBLEM = 'must be on or off (true or false)';

export const choice = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z.enum(words, `must be ${listAny(words)}`);

/**
 * Value that can be switched off in a file: by the word `off`, or by `false`, which Helm and others that read YAML 1.1 make of the word.
 *
 * @param whenOff output in place of both
 */
export const offOr = <Off, Schema extends z.ZodType>(whenOff: Off, schema: Schema, problem: string) =>
  z.union([z.literal(['off', false]).transform(() => whenOff), schema], problem);

export const list = <Item extends z.ZodType>(item: Item, problem = 'must be a list') => z.array(item, problem);

/** Problem of a setting, or of its combination with others. */
export interface SettingProblem {
  /** Path of the setting: names, and indexes of lists. */
  path: readonly PropertyKey[];
  /** Path of the value that is wrong, if it is inside the setting: a member with an unknown name. @default path */
  at?: readonly PropertyKey[];
  /** Clause that follows the path, without a period. Never repeats a value, which may be a secret. */
  message: string;
}

/** Matches values that a header can have (RFC 9110, section 5.5), in Latin-1. */
export const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Matches names of headers, except those that the gateway sets, that carry credentials, or that change what is called or how it is read. */
export const HEADER_NAME =
  /^(?!(?:accept(?:-encoding)?|connection|content-(?:encoding|length|type)|cookie|expect|host|idempotency-key|if-(?:none-match|modified-since)|keep-alive|(?:proxy-.*)?authorization|proxy-.*|range|te|trace(?:parent|state)|trailer|transfer-encoding|upgrade|user-agent|x-request-id|x-(?:http-)?method(?:-override)?|x-(?:original|rewrite)-url|__proto__)$)[\w!#$%&'*+.^`|~-]+$/i;

/** Headers of calls by name, each once. @param refusal clause about a name that is not accepted */
export const headersByName = <Value extends z.ZodType>(value: Value, refusal: string) =>
  z
    .record(z.string(), value, 'must be an object')
    .refine((all) => Object.keys(all).every((name) => HEADER_NAME.test(name)), {
      error: ({ input }) => `has ${Object.keys(input ?? {}).find((name) => !HEADER_NAME.test(name))}, ${refusal}`,
    })
    .refine(
      (all) => new Set(Object.keys(all).map((name) => name.toLowerCase())).size === Object.keys(all).length,
      'must have each header once',
    );

/** Settings by name, and no others: a misspelled one would silently leave a default in force. */
export const group = <Shape extends z.ZodRawShape>(
  shape: Shape,
  problem = 'must be an object of settings',
  noun = 'setting',
) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `has ${listAll(limited(issue.keys, (key) => unknownSetting(key, Object.keys(shape), noun)))}`
        : problem,
  });

/** Names that a problem lists at most. */
const MAX_NAMES = 20;

function limited(names: readonly string[], describe: (name: string) => string): string[] {
  const others = names.length - MAX_NAMES;
  return [...names.slice(0, MAX_NAMES).map(describe), ...(others > 0 ? [`${others} more`] : [])];
}
