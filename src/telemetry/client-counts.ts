import type { AccessLogEntry } from './access-log.ts';
import type { CounterMemory } from './counter-memory.ts';

/** Counts of operations by the client that sent them. */
export interface ClientCounts {
  /** Counts an operation. Requests rejected before they are an operation are not counted. */
  operation(entry: ClientEntry): void;
}

type ClientEntry = Pick<AccessLogEntry, 'type' | 'code' | 'resolverCalls' | 'identity' | 'client' | 'clientVersion'>;

/** Maximum number of clients with their own count. Each version of an app is a client. */
const MAX_CLIENTS = 100;

/** Label of operations without a name or version. Names of clients can't contain parentheses. */
const NONE = '(none)';

/** Label of the operations of all clients without their own count. */
const OTHER = '(other)';

/** Creates the counts of clients. */
export function createClientCounts(memory: CounterMemory): ClientCounts {
  const addCount = memory.addFamily({
    name: 'notigraph_client_operations_total',
    help: 'Operations by the name and version that the client gave itself.',
    type: 'counter',
  });
  const none = addCount({ client: NONE, version: NONE });
  const other = addCount({ client: OTHER, version: OTHER });
  const counts = new Map<string, Map<string, number>>();
  let clients = 0;

  function addClient(client: string, version: string): number {
    const versions = counts.get(client) ?? new Map<string, number>();
    const position = addCount({ client, version });
    counts.set(client, versions.set(version, position));
    clients += 1;
    return position;
  }

  function positionOf(entry: ClientEntry): number {
    const { client, clientVersion: version = NONE } = entry;
    if (client === undefined) {
      return none;
    }
    const isNew = clients < MAX_CLIENTS && isAuthenticated(entry);
    return counts.get(client)?.get(version) ?? (isNew ? addClient(client, version) : other);
  }

  return {
    operation(entry) {
      if (entry.type !== undefined) {
        memory.increase(positionOf(entry), 1);
      }
    },
  };
}

/**
 * Whether the caller's credential is verified, so that others can't fill the counts with made-up names. An API key is verified only once
 * the service has accepted it.
 */
const isAuthenticated = ({ identity, resolverCalls, code }: ClientEntry): boolean =>
  identity?.clientKind === 'browser' || (identity?.clientKind === 'server' && resolverCalls > 0 && code === undefined);
