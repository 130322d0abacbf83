import { EventEmitter, once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { runConcurrently } from '../support/concurrent-load.ts';
import { type StartedGateway, startGateway } from '../support/gateway.ts';
import { workflow } from '../support/records.ts';
import { sampleOf } from '../support/samples.ts';
import { type Connection, type ScriptResult, type ServiceResponse, startService } from '../support/service.ts';
import { STORES, startTestCache } from '../support/test-cache.ts';

const READS = {
  id: '{ workflow(idOrIdentifier: "w1") { name } }',
  identifier: '{ workflow(idOrIdentifier: "welcome") { name } }',
};
const WRITE = 'mutation { updateWorkflowStatus(input: { workflowId: "W1", active: true }) { __typename } }';

/** Results of a write, and the time at which it is applied. */
const KINDS = ['applied at arrival', 'applied at the end', 'refused', 'cut off once applied'] as const;
type WriteKind = (typeof KINDS)[number];

/**
 * The data of one key: a workflow with a version. It responds to one request at a time, as the test says. A read shows the version at the time
 * of its arrival, so that one that is held becomes out of date.
 */
class KeyService {
  /** Number of requests so far. */
  requests = 0;
  readonly #writeKind: WriteKind;
  readonly #arrivals = new EventEmitter();
  readonly #held: { method: string; release: () => void }[] = [];
  #version = 0;
  #isHolding = true;

  constructor(writeKind: WriteKind) {
    this.#writeKind = writeKind;
  }

  /** Waits for the next request with a method. Returns a function that lets the service respond to it. */
  async arrival(method: 'GET' | 'PUT'): Promise<() => void> {
    for (;;) {
      const found = this.#held.findIndex((request) => request.method === method);
      const [request] = found < 0 ? [] : this.#held.splice(found, 1);
      if (request !== undefined) {
        return request.release;
      }
      await once(this.#arrivals, 'arrival');
    }
  }

  /** Responds to all requests, and from now on immediately. */
  releaseAll(): void {
    this.#isHolding = false;
    for (const { release } of this.#held) {
      release();
    }
  }

  async respond(method: string, { end }: Connection): Promise<ScriptResult> {
    const readVersion = this.#version;
    this.requests += 1;
    this.#version += method === 'PUT' && /at arrival|cut off/.test(this.#writeKind) ? 1 : 0;
    if (this.#isHolding) {
      const { promise, resolve: release } = Promise.withResolvers<void>();
      this.#held.push({ method, release });
      this.#arrivals.emit('arrival');
      await promise;
    }
    if (method === 'GET') {
      return versioned(readVersion);
    }
    if (this.#writeKind === 'refused') {
      return { status: 429, body: { message: 'Later.' } };
    }
    if (this.#writeKind === 'cut off once applied') {
      return end();
    }
    this.#version += this.#writeKind === 'applied at the end' ? 1 : 0;
    return versioned(this.#version);
  }
}

const versioned = (version: number): ServiceResponse => ({
  body: {
    data: workflow({
      _id: 'W1',
      name: `v${version}`,
      triggers: [{ type: 'event', identifier: 'welcome', variables: [] }],
    }),
  },
});

const EVENTS = ['start first', 'end first', 'start second', 'end second', 'start write', 'end write'] as const;
type Event = (typeof EVENTS)[number];

/** Events that must precede an event. */
const AFTER: Partial<Record<Event, Event>> = {
  'end first': 'start first',
  'start second': 'start first', // The other way round is the same.
  'end second': 'start second',
  'end write': 'start write',
};

/** Returns all possible orders of the events. */
function listOrders(done: readonly Event[] = []): Event[][] {
  const next = EVENTS.filter((event) => {
    const earlier = AFTER[event];
    return !done.includes(event) && (earlier === undefined || done.includes(earlier));
  });
  return next.length === 0 ? [[...done]] : next.flatMap((event) => listOrders([...done, event]));
}

/** Order of two reads and a write, and what they do. */
interface Interleaving {
  order: readonly Event[];
  kind: WriteKind;
  /** Address of the second read; the first one asks for the id. */
  second: keyof typeof READS;
}

const INTERLEAVINGS: readonly Interleaving[] = listOrders().flatMap((order) =>
  KINDS.flatMap((kind) => (['id', 'identifier'] as const).map((second) => ({ order, kind, second }))),
);

/** Each order with one of the kinds of writes, or with all. */
const SAMPLE = sampleOf(INTERLEAVINGS, 17);

/** Time relative to the write. */
type Phase = 'before' | 'during' | 'after';

interface Read {
  startedIn: Phase;
  endedIn?: Phase;
  /** Lets the service respond to its call; undefined if it joined one, or used a stored response. */
  release?: (() => void) | undefined;
  response: Promise<void>;
}

/** Plays one interleaving with a key of its own. Returns the function that finds the problems, for when nobody writes any more. */
async function play(
  gateway: StartedGateway,
  service: KeyService,
  { order, kind, second }: Interleaving,
  authorization: string,
) {
  const problems: string[] = [];
  let phase: Phase = 'before';

  /** Reads, and notes if the response is older than a write that has ended. */
  async function send(name: string, document: string): Promise<void> {
    const earliest = phase === 'after' && kind !== 'refused' ? 1 : 0;
    const { body } = await gateway.send(document, {}, { authorization });
    const found = JSON.stringify(body);
    if (!(Number(/"v(\d+)"/.exec(found)?.[1]) >= earliest)) {
      problems.push(`${name} read ${found} after version ${earliest}`);
    }
  }

  /** Returns how a read is answered after another one of the same thing. */
  function expectAfter({ startedIn, endedIn }: Read): 'hit' | 'joined' | 'call' {
    if (endedIn === undefined) {
      return startedIn === phase ? 'joined' : 'call';
    }
    const isStored =
      startedIn === endedIn && endedIn === phase && (kind !== 'cut off once applied' || phase === 'before');
    return isStored && phase !== 'during' ? 'hit' : 'call';
  }

  async function start(name: string, document: string, earlier?: Read): Promise<Read> {
    const calls = service.requests;
    const read: Read = { startedIn: phase, response: send(name, document) };
    const expected = earlier === undefined ? 'call' : expectAfter(earlier);
    if (expected === 'call') {
      read.release = await Promise.race([service.arrival('GET'), read.response.then(() => undefined)]);
      // Until the store has refused an earlier response, reads that start at the same moment share it.
      const mayShare = earlier?.startedIn === phase;
      if (read.release === undefined && !mayShare) {
        throw new Error(`${name} was answered from the cache`);
      }
    } else if (expected === 'joined') {
      await gateway.send('{ __typename }'); // When this is answered, the read has probably joined.
    } else {
      await read.response;
      if (service.requests !== calls) {
        throw new Error(`${name} was not answered from the cache`);
      }
    }
    return read;
  }

  async function end(read: Read | undefined): Promise<void> {
    if (read?.release !== undefined) {
      read.release();
      await read.response;
      read.endedIn = phase;
    }
  }

  // The first read of a key isn't stored if others write meanwhile.
  const warming = gateway.send('{ workflow(idOrIdentifier: "other") { name } }', {}, { authorization });
  (await service.arrival('GET'))();
  await warming;
  let [first, other, write]: (Read | undefined)[] = [];
  try {
    for (const event of order) {
      if (event === 'start first') {
        first = await start('first', READS.id);
      } else if (event === 'start second') {
        other = await start('second', READS[second], second === 'id' ? first : undefined);
      } else if (event === 'start write') {
        const response = gateway.send(WRITE, {}, { authorization }).then(() => {});
        phase = 'during';
        write = { startedIn: phase, release: await service.arrival('PUT'), response };
      } else if (event === 'end write') {
        await end(write);
        phase = 'after';
      } else {
        await end(event === 'end first' ? first : other);
      }
    }
  } catch (error) {
    problems.push(String(error));
  }
  service.releaseAll();
  await Promise.all([first?.response, other?.response]);
  return async (): Promise<string[]> => {
    for (const document of Object.values(READS)) {
      await send('a later one', document);
      const calls = service.requests;
      await send('the last one', document);
      if (kind !== 'cut off once applied' && service.requests !== calls) {
        problems.push('the last one was not answered from the cache');
      }
    }
    return problems;
  };
}

describe.each(STORES)('with a cache in %s', (kind) => {
  it('two reads and a write in every possible order never show an older version than a write that has ended', async () => {
    await using cache = await startTestCache(kind);
    const services = new Map<string, KeyService>();
    await using upstream = await startService(({ method, headers }, connection) =>
      services.get(headers.authorization ?? '')?.respond(method, connection),
    );
    await using gateway = await startGateway({ upstream: upstream.url, cache: cache.settings, maxRetries: 0 });
    const ends: { title: string; findProblems: () => Promise<string[]> }[] = [];
    await runConcurrently(SAMPLE.length, 16, async (i) => {
      const interleaving = SAMPLE[i];
      if (interleaving !== undefined) {
        const authorization = `ApiKey key-${i}`;
        const service = new KeyService(interleaving.kind);
        services.set(authorization, service);
        const { order, kind: writeKind, second } = interleaving;
        const findProblems = await play(gateway, service, interleaving, authorization);
        ends.push({ title: `${order.join(', ')}; ${writeKind}; ${second}`, findProblems });
      }
    });
    const problems: Record<string, string[]> = {};
    for (const { title, findProblems } of ends) {
      const found = await findProblems();
      if (found.length > 0) {
        problems[title] = found;
      }
    }
    expect(INTERLEAVINGS).toHaveLength(360);
    expect(problems).toEqual({});
  });
});
