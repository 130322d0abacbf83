// Checks rows by the rules of `createSubscriber` and those that services have.

import { GraphQLError } from 'graphql';
import { z } from 'zod';
import { checkJson } from '../../../../src/graphql/scalars.ts';
import { caught, orUndefined } from '../../../../src/lib/caught.ts';
import { isRecord } from '../../../../src/lib/is-record.ts';
import { suggest } from '../../../../src/settings/define.ts';
import type { SubscriberFields } from '../../../../src/upstream/endpoints.ts';
import { findProfileProblem } from '../../../../src/upstream/input-rules.ts';
import { findIdProblem } from '../../../../src/upstream/transport/path.ts';

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
    return { problems: ['The line must be a JSON object.'] };
  }
  const fields = Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null));
  const unknown = Object.keys(fields).filter((name) => !FIELD_NAMES.includes(name));
  const { data, error } = ROW.safeParse(fields);
  if (data !== undefined && unknown.length === 0) {
    const cleared = Object.entries(value).filter(([name, each]) => each === null && FIELD_NAMES.includes(name));
    return { subscriber: { ...data, ...Object.fromEntries(cleared) }, problems: [] };
  }
  const id = FIELDS.subscriberId.safeParse(fields.subscriberId).data;
  return {
    subscriberId: id,
    problems: [
      ...unknown.map((name) => `The row has ${describeUnknown(name, Object.keys(fields), 'field')}.`),
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

/** Names that other systems give to the id. */
const ID_NAMES: readonly string[] = ['id', '_id', 'userId', 'user_id'];

/** Returns the field that a name means, as a question in parentheses; empty if there is none. */
const suggestField = (name: string): string => suggest(ID_NAMES.includes(name) ? 'subscriberId' : name, FIELD_NAMES);

/** Matches words. A file without a header, or with wrong quotes, has other texts in the place of names, which can be personal data. */
const NAME = /^[\p{L}_][\p{L}\p{M}\p{N}_ .()-]{0,49}$/u;

/**
 * Returns a phrase such as `the unknown column "emial" (did you mean "email"?)`. Quotes only what can be a name.
 *
 * @param names all names of the row
 * @param place added if the name is not quoted
 */
export function describeUnknown(name: string, names: readonly string[], noun: 'column' | 'field', place = ''): string {
  if (!NAME.test(name)) {
    return `an unknown ${noun}${place}`;
  }
  const advice = noun === 'column' ? `name it "data.${name}"` : 'put it into "data"';
  const hint = ID_NAMES.includes(name) && names.includes('subscriberId') ? '' : suggestField(name);
  return `the unknown ${noun} "${name}"${hint || ` (to keep it, ${advice})`}`;
}

/** Whether one of the names is that of a field, or nearly. */
export const hasKnownName = (names: readonly string[]): boolean =>
  names.some((name) => FIELD_NAMES.includes(name) || suggestField(name) !== '');
