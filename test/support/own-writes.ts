import { Agent } from 'undici';
import { createRandom } from './concurrent-load.ts';
import type { VersionedUpstream, WriteOutcome } from './versioned-upstream.ts';

/** Options of `readOwnWrites`. */
export interface OwnWritesOptions {
  /** Returns the URL of the GraphQL endpoint that an operation is sent to. */
  urlOf: (operation: number) => string;
  upstream: VersionedUpstream;
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
