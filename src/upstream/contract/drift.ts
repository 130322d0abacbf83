import { isRecord } from '../../lib/is-record.ts';
import { createCredentialFilter } from '../credential-filter.ts';
import type { Endpoint } from '../errors.ts';
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

/** Called for every deviation that is found, once per place and inspected response. */
export type ReportDeviation = (endpoint: Endpoint, deviation: Deviation) => void;

/** Inspects the body of a successful response to a credential, unless its endpoint has used up its budget. */
export type DriftCheck = (endpoint: Endpoint, body: unknown, authorization: string) => void;

/**
 * Values per second and endpoint that are inspected. A value takes about 0.1 µs, so all eleven endpoints with a body together take at most
 * 0.9 % of a core. It is enough for 14 workflows of 8 KB per second, or 450 groups.
 */
const VALUES_PER_SECOND = 8_000;

/** Maximum unused budget, in values. The first responses, and those after a pause, are all inspected: about 180 workflows. */
const MAX_BUDGET = 100_000;

/** Maximum values inspected at once, which take 0.5 ms. */
const MAX_VALUES = 5_000;

/** Maximum items of a list inspected at once. */
const MAX_ITEMS = 100;

/** Distance between the first items of consecutive inspections. It is below `MAX_ITEMS`, so that every item gets its turn. */
const ITEM_STEP = 97;

/** Values of an endpoint that may be inspected. */
class Budget {
  /** Negative after a response that was larger than the budget. */
  #values = MAX_BUDGET;
  #refilledAt: number;
  /** Position at which the next inspection of a long list starts. */
  firstItem = 0;

  constructor(now: number) {
    this.#refilledAt = now;
  }

  /** Whether anything may be inspected now. */
  isLeft(now: number): boolean {
    this.#values = Math.min(MAX_BUDGET, this.#values + ((now - this.#refilledAt) / 1_000) * VALUES_PER_SECOND);
    this.#refilledAt = now;
    return this.#values > 0;
  }

  spend(values: number): void {
    this.#values -= values;
  }
}

/**
 * Creates the check that compares responses with the contract. Inspecting every response would cost a sixth of the CPU time of a request,
 * so each endpoint has a budget. Slow traffic is inspected completely, and of fast traffic a sample.
 *
 * @param now monotonic clock, in milliseconds
 */
export function createDriftCheck(report: ReportDeviation, now: () => number = () => performance.now()): DriftCheck {
  const budgets = new Map<string, Map<string, Budget>>();

  function budgetOf({ method, route }: Endpoint, time: number): Budget {
    let methods = budgets.get(route);
    if (methods === undefined) {
      methods = new Map();
      budgets.set(route, methods);
    }
    let budget = methods.get(method);
    if (budget === undefined) {
      budget = new Budget(time);
      methods.set(method, budget);
    }
    return budget;
  }

  return (endpoint, body, authorization) => {
    const shape = shapeOf(endpoint);
    if (shape === undefined) {
      return;
    }
    const time = now();
    const budget = budgetOf(endpoint, time);
    if (!budget.isLeft(time)) {
      return;
    }
    const { firstItem } = budget;
    const sample = { maxValues: MAX_VALUES, maxItems: MAX_ITEMS, firstItem };
    const { deviations, values } = inspect(body, shape, sample, authorization);
    budget.firstItem = firstItem + ITEM_STEP;
    budget.spend(values);
    for (const deviation of deviations) {
      report(endpoint, deviation);
    }
  };
}
