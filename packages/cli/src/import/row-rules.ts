// Checks rows by the rules of `createSubscriber` and those that services have.

import { GraphQLError } from 'graphql';
import { z } from 'zod';
import { checkJson } from '../../../../src/graphql/json-values.ts';
import { caught, orUndefined } from '../../../../src/lib/caught.ts';
import { isRecord } from '../../../../src/lib/is-record.ts';
import { suggest } from '../../../../src/lib/words.ts';
import type { SubscriberFields } from '../../../../src/upstream/endpoints.ts';
import { findIdProblem, findProfileProblem } from '../../../../src/upstream/input-rules.ts';
import { countOf } from '../text.ts';

const TEXT = 'must be text';
const CHANNELS = 'must be a JSON list of objects';

/** Ends the checks of a value of which a function returns a problem. */
const reject =
  <Value>(findProblem: (value: Value) => string | undefined) =>
  (value: Value, context: z.RefinementCtx): void => {
    const message = findProblem(value);
    if (message !== undefined) {
      context.addIssue({ code: 'custom', message, continue: false });
    }
  };

/** Text that can be sent, by the same rules as in GraphQL. */
const text = (field: string) => z.string(TEXT).superRefine(reject((value) => findProfileProblem(field, value)));

/** Says why JSON wouldn't reach the service unchanged, by the same rules as in GraphQL. */
function findJsonProblem(value: unknown): string | undefined {
  const error = caught(GraphQLError, () => checkJson(value));
  return error && `is invalid: ${error.message.replace(/\.$/, '')}`;
}

/** Any object. Unlike `z.record`, it keeps a key `__proto__`, so that `checkJson` finds it. */
const freeForm = (problem: string) => z.custom<Record<string, unknown>>(isRecord, problem);

/** Fields of a row. Rules beyond the contract are those that services have. */
const FIELDS = {
  subscriberId: z.union([z.string(), z.int().transform(String)], TEXT).superRefine(reject(findIdProblem)),
  // The address may have letters of any language. Stricter patterns reject addresses that exist.
  email: text('email').regex(/^[^\s@]{1,64}@(?:[^\s@.]+\.)+[^\s@.]+$/, 'must be an email address'),
  firstName: text('firstName'),
  lastName: text('lastName'),
  phone: text('phone'),
  avatar: text('avatar'),
  locale: text('locale').refine(isLocale, 'must be a locale such as en or en_US'),
  data: freeForm('must be a JSON object').superRefine(reject(findJsonProblem)),
  channels: z.array(freeForm(CHANNELS), CHANNELS).superRefine(reject(findJsonProblem)),
};

export const FIELD_NAMES: readonly string[] = Object.keys(FIELDS);

export const JSON_FIELDS: ReadonlySet<string> = new Set(['data', 'channels']);

const ROW = z.object(FIELDS).partial().required({ subscriberId: true });

/** Subscriber of a row, or the reasons why there is none. */
export interface CheckedRow {
  subscriber?: SubscriberFields;
  /** Sentences without values of the row, which are personal data. */
  problems: readonly string[];
  /** Id of an invalid row, if it is valid. */
  subscriberId?: string | undefined;
}

/** Checks a row. Null clears a field, as in GraphQL. */
export function checkRow(value: unknown): CheckedRow {
  if (!isRecord(value)) {
    return { problems: ['The row must be a JSON object.'] };
  }
  const fields = Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null));
  const names = Object.keys(fields);
  const unknown = names.every(isFieldName) ? [] : describeUnknown(names, 'field');
  const { data, error } = ROW.safeParse(fields);
  if (data !== undefined && unknown.length === 0) {
    const cleared = Object.entries(value).filter(([name, each]) => each === null && isFieldName(name));
    return { subscriber: { ...data, ...Object.fromEntries(cleared) }, problems: [] };
  }
  const id = FIELDS.subscriberId.safeParse(fields.subscriberId).data;
  return {
    subscriberId: id,
    problems: [
      ...unknown,
      ...(error?.issues ?? []).map(({ path: [name = ''], message }) =>
        fields[String(name)] === undefined ? `${String(name)} is missing.` : `${String(name)} ${message}.`,
      ),
    ],
  };
}

/** Whether a text is a language tag (BCP 47), with hyphens or underscores. */
function isLocale(value: string): boolean {
  return orUndefined(() => Intl.getCanonicalLocales(value.replaceAll('_', '-')))?.length === 1;
}

/** Texts with which databases, spreadsheets, Python and JavaScript write that there is no value. The case counts: Null is a surname. */
const PLACEHOLDERS: readonly string[] = ['NULL', 'null', '\\N', '#N/A', 'N/A', 'None', 'NaN', 'undefined'];

export const isPlaceholder = (value: unknown): value is string =>
  typeof value === 'string' && PLACEHOLDERS.includes(value);

/** Names that other systems give to fields, without case and separators. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  subscriberId: ['id', 'userid', 'recordid', 'recordidcontact', 'contactid', 'customerid', 'externalid', 'uuid'],
  email: ['mail', 'emailaddress'],
  firstName: ['givenname'],
  lastName: ['surname', 'familyname'],
  phone: ['phonenumber', 'mobile', 'mobilephone', 'mobilephonenumber', 'telephone'],
  avatar: ['avatarurl', 'picture', 'photourl'],
  locale: ['language', 'preferredlanguage', 'languagelocalekey'],
};

/** Returns the field that a name means, also one that is misspelled or that another system uses; undefined if there is none. */
export function fieldOf(name: string): string | undefined {
  const letters = name
    .replace(/^traits\./, '')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase();
  const alias = Object.keys(ALIASES).find((field) => ALIASES[field]?.includes(letters));
  return alias ?? FIELD_NAMES.find((field) => field === name || (!JSON_FIELDS.has(field) && suggest(letters, [field])));
}

/** Matches words. A file without a header, or with wrong quotes, has other texts in the place of names, which can be personal data. */
const NAME = /^[\p{L}_#][\p{L}\p{M}\p{N}_ .()/&'-]{0,49}$/u;

const isFieldName = (name: string): boolean => FIELD_NAMES.includes(name);

/** Whether a name is that of a column: a field, or a member of `data`. */
export const isField = (name: string): boolean => isFieldName(name) || /^data\.[^.]+(?:\.[^.]+)*$/.test(name);

/**
 * Returns the problems of names that are none of fields, with the options that would import the file as it is. Quotes only what can be a name,
 * in double quotes, which are right in every shell: such a name has no character that is special in them.
 *
 * @param names all names; those of columns are empty if they are ignored
 */
export function describeUnknown(names: readonly string[], noun: 'column' | 'field'): string[] {
  const isKnown = noun === 'column' ? (name: string) => name === '' || isField(name) : isFieldName;
  const unknown = names.filter((name) => !isKnown(name));
  const shown = unknown.filter((name) => NAME.test(name));
  const taken = new Set(names);
  const options = shown.map((name) => {
    const field = fieldOf(name) ?? name;
    const isFree = !taken.has(field);
    taken.add(field);
    return isFree ? `--map "${name}=${field}"` : `--ignore "${name}"`;
  });
  const whole = noun === 'column' ? 'header' : 'row';
  const kept = shown.find((_name, i) => options[i]?.startsWith('--ignore'));
  const problem = `The ${whole} has ${countOf(shown.length, `unknown ${noun}`)}. Correct the ${whole}, or add ${options.join(' ')}.`;
  const advice = kept === undefined ? '' : ` To keep "${kept}", use --map "${kept}=data.${kept}" instead.`;
  const placeOf = (name: string) => (noun === 'column' ? ` (column ${names.indexOf(name) + 1})` : '');
  return [
    ...(shown.length === 0 ? [] : [problem + advice]),
    ...unknown
      .filter((name) => !shown.includes(name))
      .map((name) => `The ${whole} has an unknown ${noun}${placeOf(name)}.`),
  ];
}
