// Imitates the service, with the faults of each phase.

import { setTimeout as sleep } from 'node:timers/promises';
import { healthyResponse } from '../support/healthy-service.ts';
import { group, workflow } from '../support/records.ts';
import {
  type Connection,
  HEAD,
  type ScriptResult,
  type ServiceRequest,
  type ServiceResponse,
  startService,
} from '../support/service.ts';
import type { Ledger } from './ledger.ts';

export const GROUPS = Array.from({ length: 20 }, (_, i) => group({ _id: `g${i}`, name: `Group ${i}` }));
export const WORKFLOWS = Array.from({ length: 50 }, (_, i) =>
  workflow({ _id: `w${i}`, name: `Workflow ${i}`, _notificationGroupId: `g${i % 20}`, tags: ['soak'] }),
);
/** Statistics with one workflow per day, so that each failed workflow leads to one error. */
const STATS = Array.from({ length: 4 }, (_, i) => ({
  _id: `2026-01-0${i + 1}`,
  count: i,
  templates: [`w${i}`],
  channels: ['email', 'in_app'],
}));

type Fault = '503' | '504' | 'reset' | 'slow' | 'truncated';

/** Shares of requests that fail, by fault. */
export type FaultRates = readonly (readonly [fault: Fault, share: number])[];

export const NO_FAULTS: FaultRates = [];
export const SOME_503: FaultRates = [['503', 0.1]];
export const MIXED_FAULTS: FaultRates = (['503', '504', 'reset', 'slow', 'truncated'] as const).map((fault) => [
  fault,
  0.02,
]);
export const ONLY_503: FaultRates = [['503', 1]];

/** Requests that arrived since the last count. */
export interface Traffic {
  requests: number;
  /** Distinct calls: requests with the same request id, method, path and body count once. */
  calls: number;
}

export type SoakUpstream = Awaited<ReturnType<typeof startSoakUpstream>>;

/** Starts a service in memory with configurable faults. */
export async function startSoakUpstream(ledger: Ledger, random: () => number) {
  let faultRates: FaultRates = NO_FAULTS;
  let counted = 0;

  function pickFault(): Fault | undefined {
    let remaining = random();
    return faultRates.find(([, share]) => {
      remaining -= share;
      return remaining < 0;
    })?.[0];
  }

  const service = await startService(async (request, connection) => {
    const fault = pickFault();
    const { method, path, body } = request;
    if (method !== 'GET') {
      // A request that fails may or may not have been applied.
      const isApplied = fault === undefined || fault === 'slow' || fault === 'truncated' || random() < 0.5;
      ledger.recordWrite({ method, path, isApplied }, body);
    }
    return fault === undefined ? responseTo(request) : fail(fault, request, connection);
  });
  return {
    ...service,
    /** Returns the number of requests that arrived so far. */
    arrived: () => counted + service.requests.length,
    setFaultRates(rates: FaultRates) {
      faultRates = rates;
    },
    /** Returns the traffic since the last count. */
    countTraffic(): Traffic {
      const calls = service.requests.map(({ method, path, headers, body }) =>
        [headers['x-request-id'], method, path, body].join(' '),
      );
      counted += calls.length;
      service.forget();
      return { requests: calls.length, calls: new Set(calls).size };
    },
  };
}

const found = (data: unknown): ServiceResponse =>
  data === undefined ? { status: 404, body: { statusCode: 404, message: 'Unknown.' } } : { body: { data } };

function responseTo(request: ServiceRequest): ServiceResponse {
  const [, , noun, id = ''] = request.path.split(/[/?]/);
  switch (`${request.method} ${noun}`) {
    case 'GET workflows':
      return found(WORKFLOWS.find(({ _id }) => _id === id));
    case 'GET notification-groups':
      return found(id === '' ? GROUPS : GROUPS.find(({ _id }) => _id === id));
    case 'GET notifications':
      return found(STATS);
    default:
      return healthyResponse(request);
  }
}

async function fail(fault: Fault, request: ServiceRequest, connection: Connection): Promise<ScriptResult> {
  switch (fault) {
    case 'reset':
      return connection.reset();
    case 'truncated':
      connection.send(`${HEAD}content-length: 1000\r\n\r\n{"data":`);
      await sleep(1);
      return connection.end();
    case 'slow':
      await sleep(500);
      return responseTo(request);
    default:
      return { status: Number(fault), body: { statusCode: Number(fault), message: 'Down.' } };
  }
}
