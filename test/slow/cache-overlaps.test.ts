import { describe, expect, it } from 'vitest';
import { runConcurrently } from '../support/concurrent-load.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { type HeldUpstream, startHeldUpstream, type WriteKind } from '../support/held-service.ts';
import { sampleOf } from '../support/samples.ts';
import { STORES, startTestCache } from '../support/test-cache.ts';

const READS = {
  id: '{ workflow(idOrIdentifier: "w1") { name } }',
  identifier: '{ workflow(idOrIdentifier: "welcome") { name } }',
};
const WRITE = 'mutation { updateWorkflowStatus(input: { workflowId: "W1", active: true }) { __typename } }';

const KINDS: readonly WriteKind[] = ['applied at arrival', 'applied at the end', 'refused', 'cut off once applied'];

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
const SAMPLE = sampleOf(INTERLEAVINGS, 7);

/** Time relative to the write. */
type Phase = 'before' | 'during' | 'after';

interface Read {
  startedIn: Phase;
  endedIn?: Phase;
  /** Lets the service respond to its call; undefined if it joined one, or used a stored response. */
  release?: (() => void) | undefined;
  response: Promise<void>;
}

/** Plays one interleaving with a key of its own. Returns the problems. */
async function play(gateway: TestGateway, upstream: HeldUpstream, { order, kind, second }: Interleaving, key: string) {
  const authorization = `ApiKey ${key}`;
  const service = upstream.serviceOf(authorization);
  service.writeKind = kind;
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
  for (const document of Object.values(READS)) {
    await send('a later one', document);
    const calls = service.requests;
    await send('the last one', document);
    if (kind !== 'cut off once applied' && service.requests !== calls) {
      problems.push('the last one was not answered from the cache');
    }
  }
  return problems;
}

describe.each(STORES)('with a cache in %s', (kind) => {
  it('two reads and a write in every possible order never show an older version than a write that has ended', async () => {
    await using cache = await startTestCache(kind);
    await using upstream = await startHeldUpstream();
    await using gateway = await startGateway({ upstream: upstream.url, cache: cache.settings, maxRetries: 0 });
    const problems: Record<string, string[]> = {};
    await runConcurrently(SAMPLE.length, 16, async (i) => {
      const interleaving = SAMPLE[i];
      if (interleaving !== undefined) {
        const found = await play(gateway, upstream, interleaving, `key-${i}`);
        if (found.length > 0) {
          problems[`${interleaving.order.join(', ')}; ${interleaving.kind}; ${interleaving.second}`] = found;
        }
      }
    });
    expect(INTERLEAVINGS).toHaveLength(360);
    expect(problems).toEqual({});
  });
});
