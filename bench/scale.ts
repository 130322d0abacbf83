import { summarize } from './figures.ts';
import { POPULATION } from './ids.ts';
import { type RunningSubject, type RunningUpstream, startSubject } from './processes.ts';
import { messageOf } from './progress.ts';
import { type MeasureOptions, measureWorkload } from './rounds.ts';
import { FLOOR, OURS, variantOf } from './subjects.ts';
import { WORKLOADS, type Workload, workflowIdsFrom } from './workloads.ts';

/** Cost per request of one subject at one amount of work. */
export interface Cost {
  cpuUs: number;
  perSecond: number;
  p99Us: number;
  /** Resident memory after the last round, in bytes. */
  rss: number;
}

/** Cost as a function of the amount of work. */
export interface Curve {
  title: string;
  /** Unit of the amount. */
  unit: string;
  /** Costs by subject name. */
  points: { amount: number; costs: Record<string, Cost> }[];
}

/** Growth of the cost with the amount of work. */
export interface ScaleFigures {
  settings: Pick<MeasureOptions, 'rounds' | 'seconds'>;
  curves: Curve[];
  skipped: { title: string; reason: string }[];
}

/** Amount of work to vary. */
interface Dimension {
  title: string;
  unit: string;
  amounts: readonly number[];
  workload: (amount: number) => Workload;
  /** Additional arguments of the gateway. If there are any, each amount has a new process. */
  args?: (amount: number) => readonly string[];
}

const { q1, q2, q3 } = WORKLOADS;

/** Number of connections for large operations: enough to keep a core busy without long queues. */
const FEW_CONNECTIONS = 16;

const DIMENSIONS: readonly Dimension[] = [
  {
    title: 'Workflows per operation, each with its group',
    unit: 'workflows',
    amounts: [1, 5, 10, 20, 49],
    workload: (amount) => ({
      ...q3,
      connections: FEW_CONNECTIONS,
      variables: (number) => ({ ids: workflowIdsFrom(number, amount) }),
    }),
  },
  {
    title: 'Notification groups in a list',
    unit: 'groups',
    amounts: [1, 10, 100, 1_000],
    workload: (amount) => ({ ...q2, connections: FEW_CONNECTIONS, upstream: { groups: amount } }),
  },
  {
    title: 'Size of an upstream response',
    unit: 'KB',
    amounts: [8, 64, 256, 1_024],
    workload: (amount) => ({ ...q1, connections: FEW_CONNECTIONS, upstream: { workflowBytes: amount * 1_024 } }),
  },
  {
    title: 'Concurrent connections',
    unit: 'connections',
    amounts: [1, 10, 100, 1_000],
    workload: (amount) => ({ ...q1, connections: amount }),
  },
  {
    title: 'Rotating credentials',
    unit: 'credentials',
    amounts: [1, 100, 1_000, 10_000],
    // Each request has the next workflow too, so that few credentials don't share more upstream requests than many.
    workload: (amount) => ({
      ...q1,
      callerOf: (index) => ({ credential: index % amount, number: index % POPULATION }),
    }),
  },
  {
    title: 'Processes sharing the port',
    unit: 'workers',
    amounts: [1, 2],
    workload: () => q1,
    args: (amount) => ['--workers', String(amount)],
  },
];

/** Measures how the cost of a request grows with the amount of work. If a curve fails, the others still count. */
export async function measureScale(
  upstream: RunningUpstream,
  folder: string,
  options: MeasureOptions,
): Promise<ScaleFigures> {
  /** Starts the gateway. The default limit is lower than the thousand concurrent connections measured here. */
  const start = (args: readonly string[] = []): Promise<RunningSubject> =>
    startSubject(variantOf(OURS, { args, env: { NOTIGRAPH_MAX_IN_FLIGHT_REQUESTS: '2000' } }), upstream.url, folder);

  /** Measures the gateway and the floor in turns. Throws if responses are wrong or differ. */
  async function measureCosts(key: string, workload: Workload, ours: RunningSubject): Promise<Record<string, Cost>> {
    const rounds = await measureWorkload(key, workload, [floor, ours], upstream, options);
    const { subjects } = summarize(key, workload, [rounds]);
    const costs = [floor, ours].map(({ subject: { name }, rssBytes }) => {
      const { figures, fault } = subjects[name] ?? {};
      if (figures === undefined) {
        throw new Error(fault ?? `${name} has no result`);
      }
      const { cpuUs, perSecond, p99Us } = figures;
      return [name, { cpuUs, perSecond, p99Us, rss: rssBytes() }] as const;
    });
    return Object.fromEntries(costs);
  }

  await using floor = await startSubject(FLOOR, upstream.url, folder);
  await using shared = await start();
  const { rounds, seconds, report } = options;
  const figures: ScaleFigures = { settings: { rounds, seconds }, curves: [], skipped: [] };
  for (const { title, unit, amounts, workload, args } of DIMENSIONS) {
    const points: Curve['points'] = [];
    try {
      for (const amount of amounts) {
        await using own = args && (await start(args(amount)));
        points.push({ amount, costs: await measureCosts(`${amount} ${unit}`, workload(amount), own ?? shared) });
      }
      figures.curves.push({ title, unit, points });
    } catch (error) {
      const reason = messageOf(error);
      figures.skipped.push({ title, reason });
      report(`${title}: no result, ${reason}`);
    }
  }
  return figures;
}
