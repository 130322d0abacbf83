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
  new Inspection(endpoint, body).deviations();

/** Comparison of a body, with or without an envelope, with the contract. */
class Inspection {
  readonly #path: string[] = [];
  readonly #found = new Map<string, Deviation>();

  constructor({ response: shape, expect }: DeclaredEndpoint, body: unknown) {
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
        this.#path.push('[]');
        for (const item of value) {
          this.#visit(item, items);
        }
        this.#path.pop();
      }
    } else if (fields !== undefined && isRecord(value)) {
      this.#visitFields(value, fields, required);
    }
  }

  #visitFields(
    record: Readonly<Record<string, unknown>>,
    fields: Readonly<Record<string, Shape>>,
    required: readonly string[] = [],
  ): void {
    for (const [name, field] of Object.entries(fields)) {
      this.#path.push(name);
      if (Object.hasOwn(record, name)) {
        this.#visit(record[name], field);
      } else if (required.includes(name)) {
        this.#report('missing');
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

/** Inspects the body of a successful response, if it is in the sample. */
export type DriftCheck = (endpoint: DeclaredEndpoint, body: unknown) => void;

/**
 * Inspects the first of so many responses of an endpoint. To inspect each would take a sixth of the CPU time of requests, so this takes 1 %. A prime
 * number, because a client that polls the same few records in turn would otherwise show only one of them.
 */
const SAMPLE_INTERVAL = 17;

/** Creates the check that compares a sample of the responses with the contract. */
export function createDriftCheck(report: ReportDeviation): DriftCheck {
  const responses = new Map<DeclaredEndpoint, number>();

  return (endpoint, body) => {
    const before = responses.get(endpoint) ?? 0;
    responses.set(endpoint, before + 1);
    if (before % SAMPLE_INTERVAL === 0) {
      for (const deviation of findDeviations(endpoint, body)) {
        report(endpoint, deviation);
      }
    }
  };
}
