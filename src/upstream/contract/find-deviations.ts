import { isRecord } from '../../lib/is-record.ts';
import { createCredentialFilter } from '../errors/credential-filter.ts';
import type { Endpoint } from '../errors/errors.ts';
import { isEnvelope } from './envelope.ts';
import { RESPONSES } from './responses.gen.ts';
import type { JsonType, Shape } from './shape.ts';

/** Difference between a response and the contract that doesn't fail the operation unless it uses the field. */
export type DeviationKind = 'missing' | 'null' | 'wrong_type' | 'wrong_format' | 'unknown_value' | 'unknown_field';

/** Deviation of a response. It never contains a value. */
export interface Deviation {
  kind: DeviationKind;
  /** Place in the body, such as `data.steps[].name`. Each list is `[]`, whichever of its items deviates. */
  path: string;
}

/** Part of a large response to inspect. */
export interface Sample {
  /** Maximum number of values to look at, approximately. */
  maxValues: number;
  /** Maximum items of each list to look at. */
  maxItems: number;
  /** Position of the first of these items. Lists are circular: after the last item comes the first one. */
  firstItem: number;
}

/** Result of an inspection. */
export interface Findings {
  deviations: readonly Deviation[];
  /** Number of values looked at, and of fields listed. */
  values: number;
}

const EVERYTHING: Sample = { maxValues: Number.POSITIVE_INFINITY, maxItems: Number.POSITIVE_INFINITY, firstItem: 0 };

/** Form of field names that are reported. Others can be values used as keys, such as tokens and ids, and are reported as `*`. */
const FIELD_NAME = /^[a-z_]{1,64}$/i;

/** Cost of checking a field name for the credential, in inspected values. */
const NAME_COST = 10;

/** Start of a timestamp such as `2026-01-31T09:30:00.000Z`. */
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;

/** Returns the shape of an endpoint's successful responses; undefined if the contract has none. */
export const shapeOf = ({ method, route }: Endpoint): Shape | undefined => RESPONSES[route]?.[method];

/**
 * Returns all deviations of a successful response from the contract, each place once.
 *
 * @param body the body as the service sent it, with or without an envelope
 */
export function findDeviations(endpoint: Endpoint, body: unknown): readonly Deviation[] {
  const shape = shapeOf(endpoint);
  return shape === undefined ? [] : inspect(body, shape, EVERYTHING).deviations;
}

/**
 * Compares a body, with or without an envelope, with a shape.
 *
 * @param authorization header `Authorization` of the request: field names that contain its credential are reported as `*`
 */
export function inspect(body: unknown, shape: Shape, sample: Sample, authorization?: string): Findings {
  const inspection = new Inspection(sample, authorization);
  if (isEnvelope(body)) {
    inspection.visit(body, { types: ['object'], fields: { data: shape } });
  } else {
    inspection.visit(body, shape);
  }
  return inspection;
}

class Inspection implements Findings {
  readonly #sample: Sample;
  readonly #authorization: string | undefined;
  /** Created for the first unknown field. */
  #isShowable: ((text: string) => boolean) | undefined;
  /** Names of unknown fields, as they are reported. */
  readonly #shownNames = new Map<string, string>();
  readonly #path: string[] = [];
  readonly #found = new Map<string, Deviation>();
  values = 0;

  constructor(sample: Sample, authorization: string | undefined) {
    this.#sample = sample;
    this.#authorization = authorization;
  }

  get deviations(): readonly Deviation[] {
    return [...this.#found.values()];
  }

  visit(value: unknown, shape: Shape): void {
    this.values += 1;
    const { types, values, format, items, fields } = shape;
    if (types === undefined) {
      return;
    }
    const type = typeOf(value);
    if (!types.includes(type)) {
      this.#report(type === 'null' ? 'null' : 'wrong_type');
    } else if (typeof value === 'string') {
      if (values !== undefined && !values.includes(value)) {
        this.#report('unknown_value');
      } else if (format !== undefined && !DATE_TIME.test(value)) {
        this.#report('wrong_format');
      }
    } else if (Array.isArray(value)) {
      if (items !== undefined) {
        this.#visitItems(value, items);
      }
    } else if (fields !== undefined && isRecord(value)) {
      this.#visitFields(value, fields, shape.required);
    }
  }

  #visitItems(list: readonly unknown[], items: Shape): void {
    const { maxItems, firstItem } = this.#sample;
    const count = Math.min(list.length, maxItems);
    this.#path.push('[]');
    for (let i = 0; i < count && !this.#isAtLimit(); i += 1) {
      this.visit(list[(firstItem + i) % list.length], items);
    }
    this.#path.pop();
  }

  #visitFields(
    record: Readonly<Record<string, unknown>>,
    fields: Readonly<Record<string, Shape>>,
    required: readonly string[] = [],
  ): void {
    for (const name of required) {
      if (!Object.hasOwn(record, name)) {
        this.#report('missing', name);
      }
    }
    const names = Object.keys(record);
    this.values += names.length;
    for (const name of names) {
      if (this.#isAtLimit()) {
        return;
      }
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (field === undefined) {
        this.#report('unknown_field', this.#showName(name));
      } else {
        this.#path.push(name);
        this.visit(record[name], field);
        this.#path.pop();
      }
    }
  }

  /** Returns an unknown name as it is reported. Services can use any value as a key, also the credential that they received. */
  #showName(name: string): string {
    if (!FIELD_NAME.test(name)) {
      return '*';
    }
    if (this.#authorization === undefined) {
      return name;
    }
    let shown = this.#shownNames.get(name);
    if (shown === undefined) {
      this.#isShowable ??= createCredentialFilter(this.#authorization);
      shown = this.#isShowable(name) ? name : '*';
      this.#shownNames.set(name, shown);
      this.values += NAME_COST;
    }
    return shown;
  }

  #isAtLimit(): boolean {
    return this.values >= this.#sample.maxValues;
  }

  /** Reports a deviation of the current value, or of one of its fields. */
  #report(kind: DeviationKind, field?: string): void {
    const path = formatPath(field === undefined ? this.#path : [...this.#path, field]);
    this.#found.set(`${kind} ${path}`, { kind, path });
  }
}

function typeOf(value: unknown): JsonType {
  if (value === null) {
    return 'null';
  }
  const type = typeof value;
  return type === 'string' || type === 'number' || type === 'boolean'
    ? type
    : Array.isArray(value)
      ? 'array'
      : 'object';
}

/** Formats a path such as `data.steps[].name`. The path of the whole body is `.`. */
const formatPath = (parts: readonly string[]): string =>
  parts.length === 0 ? '.' : parts.map((part, i) => (part === '[]' || i === 0 ? part : `.${part}`)).join('');
