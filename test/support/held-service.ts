import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { workflow } from './records.ts';
import { type ScriptedResponse, startScriptedUpstream } from './scripted-upstream.ts';

/** Result of a write, and the time at which it is applied. */
export type WriteKind = 'applied at arrival' | 'applied at the end' | 'refused' | 'cut off once applied';

/** Data of one credential, a workflow with a version, and its requests. */
export interface HeldService {
  /** Number of requests so far. */
  requests: number;
  writeKind: WriteKind;
  /** Waits for the next request with a method. Returns a function that lets the service respond to it. */
  arrival(method: 'GET' | 'PUT'): Promise<() => void>;
  /** Responds to all requests, and from now on immediately. */
  releaseAll(): void;
}

/** Upstream that responds to one request at a time, as the test says. */
export interface HeldUpstream extends AsyncDisposable {
  readonly url: string;
  /** Returns the data of a credential. */
  serviceOf(authorization: string): HeldService;
}

interface ReceivingService extends HeldService {
  receive(method: string, response: ServerResponse): Promise<ScriptedResponse | 'taken over'>;
}

/** Starts it. A read shows the version at the time of its arrival, so that one that is held becomes out of date. */
export async function startHeldUpstream(): Promise<HeldUpstream> {
  const services = new Map<string, ReceivingService>();
  function serviceOf(authorization: string): ReceivingService {
    const service = services.get(authorization) ?? createService();
    services.set(authorization, service);
    return service;
  }
  const upstream = await startScriptedUpstream(({ method, headers }, { response }) =>
    serviceOf(headers.authorization ?? '').receive(method, response),
  );
  return { url: upstream.url, serviceOf, [Symbol.asyncDispose]: upstream[Symbol.asyncDispose] };
}

function createService(): ReceivingService {
  const arrivals = new EventEmitter();
  const held: { method: string; release: () => void }[] = [];
  let version = 0;
  let isHolding = true;

  const respond = (shown: number): ScriptedResponse => ({
    body: {
      data: workflow({
        _id: 'W1',
        name: `v${shown}`,
        triggers: [{ type: 'event', identifier: 'welcome', variables: [] }],
      }),
    },
  });

  return {
    requests: 0,
    writeKind: 'refused',
    async arrival(method) {
      for (;;) {
        const found = held.findIndex((request) => request.method === method);
        const [request] = found < 0 ? [] : held.splice(found, 1);
        if (request !== undefined) {
          return request.release;
        }
        await once(arrivals, 'arrival');
      }
    },
    releaseAll() {
      isHolding = false;
      for (const { release } of held) {
        release();
      }
    },
    async receive(method, response) {
      const { writeKind } = this;
      const shown = version;
      this.requests += 1;
      version += method === 'PUT' && /at arrival|cut off/.test(writeKind) ? 1 : 0;
      if (isHolding) {
        const { promise, resolve: release } = Promise.withResolvers<void>();
        held.push({ method, release });
        arrivals.emit('arrival');
        await promise;
      }
      if (method === 'GET') {
        return respond(shown);
      }
      if (writeKind === 'refused') {
        return { status: 429, body: { message: 'Later.' } };
      }
      if (writeKind === 'cut off once applied') {
        response.destroy();
        return 'taken over';
      }
      version += writeKind === 'applied at the end' ? 1 : 0;
      return respond(version);
    },
  };
}
