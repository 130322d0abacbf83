// Compares responses with the contract, to report services that deviate from it.

import { isRecord } from '../../lib/is-record.ts';
import type { Deviation, DeviationKind, ReportDeviation } from '../calls.ts';
import { isEnvelope, type JsonType, type Shape } from '../declaration/response-form.ts';
import type { DeclaredEndpoint } from '../endpoint.ts';
import { RESPONSES } from './responses.gen.ts';

/**
 * Returns all deviations of a successful response from the contract, each place once.
 *
 * @param body the body as the service sent it, with or without an envelope
 */
export function findDeviations(endpoint: DeclaredEndpoint, body: unknown): readonly Deviation[] {
  const shape = shapeOf(endpoint);
  const found = new Map<string, Deviation>();
  const names: string[] = []; // Of the members around the visited value. Joined for deviations only, because most bodies have none.
  const report = (kind: DeviationKind, ...last: string[]) => {
    const path = [...names, ...last].join('.').replaceAll('.[]', '[]') || '.'; // The place of the whole body is `.`.
    found.set(`${kind} ${path}`, { kind, path });
  };

  function visitMember(name: string, value: unknown, shape: Shape): void {
    names.push(name);
    visit(value, shape);
    names.pop();
  }

  function visit(value: unknown, { types, values, items, fields, required = [] }: Shape): void {
    if (types === undefined) {
      return;
    }
    const type = typeOf(value);
    if (!types.includes(type)) {
      report(type === 'null' ? 'null' : 'wrong_type');
    } else if (typeof value === 'string' && values?.includes(value) === false) {
      report('unknown_value');
    } else if (Array.isArray(value) && items !== undefined) {
      for (const item of value) {
        visitMember('[]', item, items);
      }
    } else if (isRecord(value)) {
      for (const name in fields) {
        const field = fields[name];
        const member = value[name];
        if (field !== undefined && member !== undefined) {
          visitMember(name, member, field);
        } else if (required.includes(name)) {
          report('missing', name);
        }
      }
    }
  }

  if (shape !== undefined && endpoint.expect !== 'page' && isEnvelope(body)) {
    visitMember('data', body.data, shape);
  } else if (shape !== undefined) {
    visit(body, shape);
  }
  return [...found.values()];
}

/** Returns the shape that an endpoint declares, or that it has in the contract; undefined if its responses are not compared. */
const shapeOf = ({ response, module, method, route }: DeclaredEndpoint): Shape | undefined =>
  response ?? (module === undefined ? RESPONSES[`${method} ${route}`] : undefined);

function typeOf(value: unknown): JsonType {
  if (value === null || Array.isArray(value)) {
    return value === null ? 'null' : 'array';
  }
  const type = typeof value;
  return type === 'string' || type === 'number' || type === 'boolean' ? type : 'object';
}

/** Inspects the body of a successful response, if it is in the sample. */
export type DriftCheck = (endpoint: DeclaredEndpoint, body: unknown) => void;

/**
 * Inspects the first of so many responses of an endpoint. An inspection takes a quarter of a request's instructions, so this adds 0.3 %. A prime number,
 * because a client that polls the same few records in turn would otherwise show only one of them.
 */
const SAMPLE_INTERVAL = 101;

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
