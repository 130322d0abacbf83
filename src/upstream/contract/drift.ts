import { isRecord } from '../../lib/is-record.ts';
import type { DeclaredEndpoint } from '../endpoint.ts';
import type { Endpoint } from '../errors.ts';
import type { JsonType, Shape } from '../shape.ts';
import { isEnvelope } from './envelope.ts';

/** Difference between a response and the contract that doesn't fail the operation unless it uses the field. */
export type DeviationKind = 'missing' | 'null' | 'wrong_type' | 'unknown_value';

/** Deviation of a response. It never contains a value. */
export interface Deviation {
  kind: DeviationKind;
  /** Place in the body, such as `data.steps[].name`. Each list is `[]`, whichever of its items deviates. */
  path: string;
}

/**
 * Returns all deviations of a successful response from the contract, each place once.
 *
 * @param body the body as the service sent it, with or without an envelope
 */
export const findDeviations = (endpoint: DeclaredEndpoint, body: unknown): readonly Deviation[] =>
  new Inspection(endpoint, body, Number.POSITIVE_INFINITY).deviations();

/** Comparison of a body, with or without an envelope, with the contract. */
class Inspection {
  /** Number of values looked at, including absent fields. */
  values = 0;
  readonly #maxValues: number;
  readonly #path: string[] = [];
  readonly #found = new Map<string, Deviation>();

  constructor({ response: shape, expect }: DeclaredEndpoint, body: unknown, maxValues: number) {
    this.#maxValues = maxValues;
    if (shape !== undefined && expect !== 'page' && isEnvelope(body)) {
      this.#path.push('data');
      this.#visit(body.data, shape);
    } else if (shape !== undefined) {
      this.#visit(body, shape);
    }
  }

  deviations(): readonly Deviation[] {
    return [...this.#found.values()];
  }

  #visit(value: unknown, { types, values, items, fields, required }: Shape): void {
    this.values += 1;
    if (types === undefined) {
      return;
    }
    const type = typeOf(value);
    if (!types.includes(type)) {
      this.#report(type === 'null' ? 'null' : 'wrong_type');
    } else if (typeof value === 'string') {
      if (values !== undefined && !values.includes(value)) {
        this.#report('unknown_value');
      }
    } else if (Array.isArray(value)) {
      if (items !== undefined) {
        this.#visitItems(value, items);
      }
    } else if (fields !== undefined && isRecord(value)) {
      this.#visitFields(value, fields, required);
    }
  }

  /** Starts at any item, so that each one of a long list gets its turn. */
  #visitItems(list: readonly unknown[], items: Shape): void {
    const first = Math.floor(Math.random() * list.length);
    this.#path.push('[]');
    for (let i = 0; i < list.length && this.values < this.#maxValues; i += 1) {
      this.#visit(list[(first + i) % list.length], items);
    }
    this.#path.pop();
  }

  #visitFields(
    record: Readonly<Record<string, unknown>>,
    fields: Readonly<Record<string, Shape>>,
    required: readonly string[] = [],
  ): void {
    for (const name in fields) {
      const field = fields[name];
      if (field === undefined || this.values >= this.#maxValues) {
        return;
      }
      this.#path.push(name);
      if (Object.hasOwn(record, name)) {
        this.#visit(record[name], field);
      } else {
        this.values += 1;
        if (required.includes(name)) {
          this.#report('missing');
        }
      }
      this.#path.pop();
    }
  }

  /** Reports a deviation of the current place. The place of the whole body is `.`. */
  #report(kind: DeviationKind): void {
    const path = this.#path.map((part, i) => (part === '[]' || i === 0 ? part : `.${part}`)).join('') || '.';
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

/** Called for every deviation that is found, once per place and inspected response. */
export type ReportDeviation = (endpoint: Endpoint, deviation: Deviation) => void;

/** Inspects the body of a successful response, unless its endpoint has used up its budget. */
export type DriftCheck = (endpoint: DeclaredEndpoint, body: unknown) => void;

/** Maximum values inspected at once, which take 0.5 ms. */
const MAX_VALUES = 5_000;

/**
 * Time for which a value uses the budget of its endpoint, in milliseconds. It takes about 0.1 µs, so all eleven endpoints with a body together take
 * at most 0.9 % of a core. It is enough for 14 workflows of 8 KB per second, or 450 groups.
 */
const MS_PER_VALUE = 1 / 8;

/** Maximum unused budget, in milliseconds. The first responses, and those after a pause, are all inspected: about 180 workflows. */
const MAX_UNUSED_MS = 12_500;

/**
 * Creates the check that compares responses with the contract. Inspecting every response would cost a sixth of the CPU time of a request,
 * so each endpoint has a budget. Slow traffic is inspected completely, and of fast traffic a sample.
 *
 * @param now monotonic clock, in milliseconds
 */
export function createDriftCheck(report: ReportDeviation, now: () => number = () => performance.now()): DriftCheck {
  /** Times up to which the budgets of endpoints are used. */
  const usedUntil = new Map<string, number>();

  return (endpoint, body) => {
    const time = now();
    const key = `${endpoint.method} ${endpoint.route}`;
    const start = Math.max(usedUntil.get(key) ?? Number.NEGATIVE_INFINITY, time - MAX_UNUSED_MS);
    if (start >= time) {
      return;
    }
    const inspection = new Inspection(endpoint, body, MAX_VALUES);
    usedUntil.set(key, start + inspection.values * MS_PER_VALUE);
    for (const deviation of inspection.deviations()) {
      report(endpoint, deviation);
    }
  };
}
