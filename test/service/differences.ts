// Compares two answers to one question: status, headers, envelope, names, types, order and values, and what the gateway reads of an error.

import { isRecord, recordOf } from '../../src/lib/is-record.ts';
import { readReasons } from '../../src/upstream/transport/reasons.ts';

export interface Answer {
  status: number;
  headers: Readonly<Record<string, string>>;
  /** Decoded JSON, or the text if it is none. */
  body: unknown;
}

export interface Difference {
  /** Place in the answer, such as `status` or `body.data.0.name`. */
  at: string;
  /** Value that each has there, as text. */
  sandbox: string;
  service: string;
}

/** Headers that the gateway reads. */
const HEADERS = ['content-type', 'idempotency-key', 'idempotency-replay', 'retry-after'];

const ABSENT = 'absent';

/** Texts that differ in each run. */
const VARIABLE: readonly [RegExp, string][] = [
  [/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g, '<uuid>'],
  [/\b[0-9a-f]{24}\b/g, '<id>'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, '<time>'],
];

/** Matches the name of a value that a question kept, which only records of this run have. */
const OWN = /<(?!id>|time>|uuid>)\w+>/;

/** Replaces values by their names, and others that differ in each run by their kind. */
export function withNames(answer: Answer, values: ReadonlyMap<string, string>): Answer {
  const replace = (text: string) => {
    const named = [...values].reduce((all, [name, value]) => all.replaceAll(value, `<${name}>`), text);
    return VARIABLE.reduce((all, [pattern, kind]) => all.replace(pattern, kind), named);
  };
  return JSON.parse(JSON.stringify(answer), (_name, value) => (typeof value === 'string' ? replace(value) : value));
}

/** Returns the records of this run in the list of an answer. */
export const ownItems = (data: unknown): unknown[] =>
  [data]
    .flat()
    .filter((item) => !(isRecord(item) && ('_id' in item || 'template' in item)) || OWN.test(JSON.stringify(item)));

/** Returns the differences between two answers, whose values have names. */
export function findDifferences(sandbox: Answer, service: Answer, formOnly: boolean): Difference[] {
  if (sandbox.status !== service.status) {
    return [{ at: 'status', sandbox: describe(sandbox), service: describe(service) }];
  }
  const [ours, theirs] = [sandbox, service].map((answer) => flatten(answer, formOnly));
  const places = [...new Set([...(ours?.keys() ?? []), ...(theirs?.keys() ?? [])])];
  return places.flatMap((at) => {
    const found = {
      at: at.replaceAll(/\.\d+(?=\.|$)/g, '.*'),
      sandbox: ours?.get(at) ?? ABSENT,
      service: theirs?.get(at) ?? ABSENT,
    };
    const isInside = places.some((outer) => at.startsWith(`${outer}.`) && ours?.has(outer) !== theirs?.has(outer));
    return found.sandbox === found.service || isInside ? [] : [found];
  });
}

/** Returns the status of an answer, and what it says of a failure. */
const describe = ({ status, body }: Answer): string =>
  status < 400 ? String(status) : `${status} (${JSON.stringify(recordOf(body).message ?? body)?.slice(0, 200)})`;

/** Returns what an answer has at each place. */
function flatten({ status, headers, body }: Answer, formOnly: boolean): Map<string, string> {
  const found = new Map<string, string>();
  for (const name of HEADERS) {
    found.set(`headers.${name}`, headers[name] ?? ABSENT);
  }
  if (status >= 400) {
    addError(body, found);
  } else {
    add(
      Array.isArray(Object(body).data) && !formOnly ? { ...Object(body), data: ownItems(Object(body).data) } : body,
      'body',
      found,
      formOnly,
    );
  }
  return found;
}

/** Adds what the gateway reads of an error: not its words, which each version changes. */
function addError(body: unknown, found: Map<string, string>): void {
  const { statusCode, errorId } = recordOf(body);
  found.set('body.statusCode', String(statusCode));
  found.set('body.errorId', typeof errorId);
  const { issues } = readReasons(body, { method: 'POST', route: '' }, {}, () => true);
  found.set('fields', [...new Set(issues.map(({ path }) => path.join('.')))].toSorted().join(', '));
}

/** Adds a value and its members. Where only the form is compared, lists have no items. */
function add(value: unknown, at: string, found: Map<string, string>, formOnly: boolean): void {
  if (Array.isArray(value)) {
    found.set(at, formOnly ? 'list' : `list of ${value.length}`);
    for (const [index, item] of formOnly ? [] : value.entries()) {
      add(item, `${at}.${index}`, found, formOnly);
    }
  } else if (isRecord(value)) {
    found.set(at, 'object');
    for (const [name, member] of Object.entries(value)) {
      add(member, `${at}.${name}`, found, formOnly);
    }
  } else {
    found.set(at, formOnly ? typeOf(value) : (JSON.stringify(value) ?? ABSENT));
  }
}

const typeOf = (value: unknown): string => (value === null ? 'null' : typeof value);
