import type { Cost, Point } from './curves.ts';
import type { Dimension } from './dimensions.ts';
import { drive } from './load.ts';
import type { MeasureOptions } from './measure.ts';
import { measureLoad } from './measure-load.ts';
import type { RunningSubject, RunningUpstream } from './processes.ts';
import { comparedNumbers, sendOnce } from './requests.ts';
import { median } from './statistics.ts';
import { WORKLOADS } from './workloads.ts';

/** Time until a subject's code is compiled: at the first amount, and at further ones. */
const WARM_UP_SECONDS = { first: 2, further: 0.7 };

/** Measures subjects in turns at one amount of work. Throws if responses are wrong or differ between subjects. */
export async function measurePoint(
  dimension: Dimension,
  amount: number,
  subjects: readonly RunningSubject[],
  upstream: RunningUpstream,
  { rounds, seconds, report }: MeasureOptions,
): Promise<Point> {
  await upstream.apply(dimension.upstream(amount));
  await compareResponses(dimension, amount, subjects);
  const connections = dimension.connections(amount);
  const isFirst = amount === dimension.amounts[0];
  const loaded = subjects.map((running) => {
    const request = dimension.request(running.subject, amount);
    return { running, next: dimension.next(running.url, request, amount), costs: [] as Omit<Cost, 'rss'>[] };
  });
  for (const { running, next } of loaded) {
    await drive(running.url, { connections, next, seconds: WARM_UP_SECONDS[isFirst ? 'first' : 'further'] });
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const { running, next, costs } of loaded) {
      const { cpuUs, perSecond, p99Us } = await measureLoad(running, upstream, { connections, next, seconds });
      costs.push({ cpuUs, perSecond, p99Us });
    }
  }
  const point: Point = {
    amount,
    costs: Object.fromEntries(
      loaded.map(({ running, costs }) => [
        running.subject.name,
        {
          cpuUs: median(costs.map(({ cpuUs }) => cpuUs)),
          perSecond: median(costs.map(({ perSecond }) => perSecond)),
          p99Us: median(costs.map(({ p99Us }) => p99Us)),
          rss: running.rssBytes(),
        },
      ]),
    ),
  };
  const line = Object.entries(point.costs).map(([name, { cpuUs }]) => `${name} ${cpuUs.toFixed(0)} µs`);
  report(`${amount} ${dimension.unit}: ${line.join(', ')}`);
  return point;
}

async function compareResponses(
  dimension: Dimension,
  amount: number,
  subjects: readonly RunningSubject[],
): Promise<void> {
  for (const number of comparedNumbers(WORKLOADS[dimension.name])) {
    const responses = new Set<string>();
    for (const { subject, url } of subjects) {
      const response = await sendOnce(url, WORKLOADS[dimension.name], dimension.request(subject, amount), number);
      responses.add(JSON.stringify(response));
    }
    if (responses.size > 1) {
      throw new Error(`The responses at ${amount} ${dimension.unit} differ.`);
    }
  }
}
