import { Socket } from 'node:net';
import type { Degradations } from '../../server/health.ts';
import type { ConnectionSource } from '../../server/listen.ts';
import type { MetricSamples } from '../../telemetry/metrics-snapshot.ts';
import type { Process } from '../command.ts';
import { type Channel, createChannel } from './channel.ts';
import {
  type Configuration,
  configuration,
  type GroupStatus,
  type Order,
  orders,
  type PrimaryAnswers,
  primaryAnswers,
  type Report,
  type WorkerAnswers,
} from './messages.ts';

/** Assignment of a worker by its primary. */
export interface Assignment {
  /** Number of the worker, counted over all that were started. */
  id: number;
  /** Address that the primary listens on. */
  address: string;
  /** Whether file descriptor 4 is a file for its counters. */
  hasCounterFile: boolean;
}

/** Variables with the assignment. They are not settings, so nobody else can set them. */
const ID = 'NOTIGRAPH_WORKER_ID';
const ADDRESS = 'NOTIGRAPH_WORKER_ADDRESS';
const COUNTER_FILE = 'NOTIGRAPH_WORKER_COUNTER_FILE';

/** File descriptor of the file for counters in a worker, after the standard streams and the channel. */
const COUNTER_FD = 4;

/** Interval at which a worker says that its event loop runs, in milliseconds. */
export const HEARTBEAT_MS = 500;

/** Heartbeats per report of the metrics. */
const HEARTBEATS_PER_SAMPLES = 2;

/** Time in which the primary answers, in milliseconds. */
const ANSWER_MS = 2_000;

/** Time in which the primary sends the configuration, in milliseconds. It starts several workers at once. */
const CONFIGURATION_MS = 30_000;

/** Returns the environment variables that carry an assignment. */
export const variablesFor = ({ id, address, hasCounterFile }: Assignment): Record<string, string> => ({
  [ID]: String(id),
  [ADDRESS]: address,
  [COUNTER_FILE]: String(hasCounterFile),
});

/** State of a worker's server. */
export interface WorkerState {
  /** Number of open connections. */
  connections: number;
  /** Reason for rejecting requests. */
  problem: string | undefined;
  degradations: Degradations;
  samples(): MetricSamples[];
}

type Apply = (configuration: Configuration) => Promise<string | undefined>;

/** This process as a worker. */
export interface WorkerRole extends Pick<Assignment, 'id'> {
  /** File descriptor for the counters. */
  counterFile: number | undefined;
  /** Connections that the primary accepts for this worker. */
  source: ConnectionSource;
  /** Resolves when it should end because others take over. */
  retired: Promise<unknown>;
  /** Resolves when it should answer in-flight requests and end: the primary says so or has ended. */
  stopped: Promise<undefined>;
  /** Returns the configuration to start with. */
  configuration(): Promise<Configuration>;
  /** Uses configurations that the primary sends from now on. The function returns why one can't be used. */
  onConfigure(apply: Apply): void;
  /** Reports the state of its server from now on. */
  watch(getState: () => WorkerState): void;
  /** Sends a report. Resolves when it is sent or can't be sent. */
  report(report: Report): Promise<unknown>;
  /** Returns the metrics of all processes. */
  metrics(): Promise<string>;
  /** Returns the health of all processes. */
  status(): Promise<GroupStatus>;
  /** Sends the final metrics and closes the connection to the primary, which keeps the process alive. */
  leave(): Promise<void>;
}

/** Returns the role of this process if Notigraph forked it. */
export function findWorkerRole(host: Process): WorkerRole | undefined {
  const { [ID]: id, [ADDRESS]: address, [COUNTER_FILE]: hasCounterFile } = host.env;
  if (host.send === undefined || id === undefined || address === undefined) {
    return undefined;
  }
  const pendingOrders = {
    retire: Promise.withResolvers<undefined>(),
    stop: Promise.withResolvers<undefined>(),
    sealed: Promise.withResolvers<undefined>(),
  };
  let onConnection = (connection: Socket): void => void connection.destroy();
  let getState = (): WorkerState => ({ connections: 0, problem: 'starting', degradations: {}, samples: () => [] });

  let apply: Apply = async () => 'it does not serve';

  async function configure(about: unknown): Promise<WorkerAnswers['configure']> {
    const { data } = configuration.safeParse(about);
    return { problem: data === undefined ? 'it received no configuration' : await apply(data) };
  }

  function onOrder({ kind }: Order, connection: unknown): void {
    if (kind === 'connection') {
      void channel.tell({ kind: 'took', connections: getState().connections + 1 }); // Before anything is read from it.
      if (connection instanceof Socket) {
        onConnection(connection); // Otherwise, it is closed already.
      }
    } else {
      pendingOrders[kind].resolve(undefined);
    }
  }

  const channel: Channel<Report, PrimaryAnswers> = createChannel<Report, Order, PrimaryAnswers, WorkerAnswers>({
    send: (message, _connection, onSent) => void host.send?.(message, undefined, {}, onSent),
    messages: orders,
    onMessage: onOrder,
    asked: primaryAnswers,
    answers: { samples: () => getState().samples(), configure },
  });
  host.on('message', channel.receive);

  let beats = 0;
  function tellState(): void {
    const { samples: _, ...state } = getState();
    void channel.tell({ kind: 'alive', ...state });
  }
  const heartbeat = setInterval(() => {
    tellState();
    beats += 1;
    if (beats % HEARTBEATS_PER_SAMPLES === 0) {
      void channel.tell({ kind: 'samples', samples: getState().samples() });
    }
  }, HEARTBEAT_MS).unref();
  host.once('disconnect', () => {
    clearInterval(heartbeat);
    pendingOrders.stop.resolve(undefined);
    pendingOrders.sealed.resolve(undefined);
  });

  return {
    id: Number(id),
    counterFile: hasCounterFile === 'true' ? COUNTER_FD : undefined,
    source: {
      url: address,
      closed: pendingOrders.sealed.promise,
      open(take) {
        onConnection = take;
      },
    },
    retired: pendingOrders.retire.promise,
    stopped: pendingOrders.stop.promise,
    configuration: () => channel.ask('configuration', CONFIGURATION_MS),
    onConfigure(use) {
      apply = use;
    },
    watch(get) {
      getState = get;
      tellState(); // Before it is reported to listen: until the next heartbeat, the primary would count it as starting.
    },
    report: channel.tell,
    metrics: () => channel.ask('metrics', ANSWER_MS),
    status: () => channel.ask('status', ANSWER_MS),
    async leave() {
      await channel.tell({ kind: 'samples', samples: getState().samples() });
      if (host.connected) {
        host.disconnect();
      }
    },
  };
}
