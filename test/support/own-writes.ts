import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import { createRandom } from './concurrent-load.ts';
import { group, workflow } from './records.ts';
import { type Script, startService } from './service.ts';

/** Response to a write: `late` breaks the connection, and applies it afterwards; `lost` applies it, and breaks the connection. */
type WriteOutcome = 'applied' | 'refused' | 'late' | 'lost';

/** Time after which a late write is applied, in milliseconds. */
const LATE_MS = 100;

/**
 * Starts a service that has one group per credential. Every write gives it the next version as its name. Every second response takes a few
 * milliseconds, so that reads and writes overlap.
 */
export async function startVersionedService() {
  const versions = new Map<string, number>();
  const apply = (authorization: string) => versions.set(authorization, (versions.get(authorization) ?? 0) + 1);
  let answered = 0;
  const script: Script = async ({ method, path, headers: { authorization = '' } }, { end }) => {
    const outcome = method === 'PATCH' ? versioned.outcomeOf(authorization) : undefined;
    if (outcome === 'applied' || outcome === 'lost') {
      apply(authorization);
    }
    const record = group({ _id: 'g1', name: `v${versions.get(authorization) ?? 0}` });
    answered += 1;
    if (answered % 2 === 0) {
      await sleep(answered % 7);
    }
    if (outcome === 'late') {
      setTimeout(apply, LATE_MS, authorization).unref();
    }
    if (outcome === 'late' || outcome === 'lost') {
      return end();
    }
    const list = path.endsWith('groups') ? [record] : undefined;
    const data = list ?? (path.includes('workflows') ? workflow({ notificationGroup: record }) : record);
    return { status: outcome === 'refused' ? 429 : 200, body: { data } };
  };
  const service = await startService(script);
  const versioned = {
    ...service,
    /** Returns the number of reads so far. */
    reads: () => service.requests.filter(({ method }) => method === 'GET').length,
    /** Returns how the service responds to the next write of a credential. */
    outcomeOf: (_authorization: string): WriteOutcome => 'applied',
  };
  return versioned;
}

/** Options of `readOwnWrites`. */
export interface OwnWritesOptions {
  /** Returns the URL of the GraphQL endpoint that an operation is sent to. */
  urlOf: (operation: number) => string;
  upstream: Awaited<ReturnType<typeof startVersionedService>>;
  /** Clients, each with a key of its own and two operations at a time. */
  clients: number;
  /** Number of all operations. */
  operations: number;
  /** Called before each operation. @default nothing */
  onOperation?: (operation: number) => void;
}

/** Result of `readOwnWrites`. */
export interface OwnWrites {
  /** Reads that were older than a write that their client had confirmed before. */
  stale: string[];
  reads: number;
  confirmedWrites: number;
  /** Writes that ended with an error, or whose connection was closed. */
  failedWrites: number;
}

const READS = [
  '{ notificationGroup(id: "g1") { name } }',
  '{ notificationGroups { name } }',
  '{ workflow(idOrIdentifier: "w1") { notificationGroup { name } } }',
];
const WRITE = `mutation { updateNotificationGroup(input: { id: "g1", name: "next" }) {
  ... on UpdateNotificationGroupSuccess { notificationGroup { name } }
} }`;

/** Outcomes of the writes of most clients, and of those whose writes often have an unknown outcome. */
const OUTCOMES: readonly (readonly WriteOutcome[])[] = [
  ['applied', 'applied', 'applied', 'refused'],
  ['applied', 'applied', 'applied', 'refused'],
  ['applied', 'applied', 'applied', 'refused'],
  ['applied', 'refused', 'late', 'lost'],
];

/** Sends reads and writes of many clients, each on a connection of its own. */
export async function readOwnWrites({
  urlOf,
  upstream,
  clients,
  operations,
  onOperation,
}: OwnWritesOptions): Promise<OwnWrites> {
  const random = createRandom(4_711);
  const agent = new Agent({ pipelining: 0, connections: 2 * clients });
  const result: OwnWrites = { stale: [], reads: 0, confirmedWrites: 0, failedWrites: 0 };
  const pick = <T>(values: readonly T[]) => values[Math.floor(random() * values.length)] as T;
  upstream.outcomeOf = (authorization) => pick(OUTCOMES[Number(authorization.split('-')[1]) % OUTCOMES.length] ?? []);
  let sent = 0;

  /** Returns the version in the response; undefined if there is none. */
  async function send(document: string, authorization: string): Promise<number | undefined> {
    const { origin, pathname } = new URL(urlOf(sent));
    onOperation?.(sent);
    sent += 1;
    try {
      const { body } = await agent.request({
        origin,
        path: pathname,
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization },
        body: JSON.stringify({ query: document }),
      });
      const version = /"name":"v(\d+)"/.exec(await body.text())?.[1];
      return version === undefined ? undefined : Number(version);
    } catch {
      return undefined;
    }
  }

  async function runClient(client: number): Promise<void> {
    const authorization = `ApiKey client-${client}`;
    let confirmed = 0;

    async function read(): Promise<void> {
      const [atLeast, document] = [confirmed, pick(READS)];
      const version = await send(document, authorization);
      result.reads += version === undefined ? 0 : 1;
      if (version !== undefined && version < atLeast) {
        result.stale.push(`${authorization} read v${version} after v${atLeast}: ${document}`);
      }
    }

    async function write(): Promise<void> {
      const version = await send(WRITE, authorization);
      if (version === undefined) {
        result.failedWrites += 1;
      } else {
        result.confirmedWrites += 1;
        confirmed = Math.max(confirmed, version);
      }
    }

    async function runLane(): Promise<void> {
      while (sent < operations) {
        await (random() < 0.1 ? write() : read());
      }
    }
    await Promise.all([runLane(), runLane()]);
  }

  await Promise.all(Array.from({ length: clients }, (_, client) => runClient(client)));
  await agent.close();
  return result;
}
