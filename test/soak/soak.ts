// Runs the phases of the soak test, and measures the gateway in each.

import { setTimeout as sleep } from 'node:timers/promises';
import { type ProbedGateway, startProbedGateway } from '../support/probed-gateway.ts';
import { addResult, type ClientTotals, createTotals, describePhase } from './client-totals.ts';
import { Ledger } from './ledger.ts';
import { type Load, startLoad } from './load.ts';
import {
  type FaultRates,
  MIXED_FAULTS,
  NO_FAULTS,
  ONLY_503,
  SOME_503,
  type SoakUpstream,
  startSoakUpstream,
  type Traffic,
} from './upstream.ts';

/** Durations of the phases, in seconds. */
interface Phases {
  /** No faults. */
  warmUp: number;
  /** One request in ten gets 503. */
  busy: number;
  /** All faults occur, and some clients disconnect. */
  mixed: number;
  /** All requests get 503 for two thirds of the phase, then connections are refused. */
  outage: number;
  recovery: number;
  /** No load, so that sockets and timers are released. */
  quiet: number;
}

export function planPhases(minutes: number): Phases {
  const fixed = { outage: minutes < 2 ? 10 : 30, recovery: 12, quiet: 8 };
  const rest = Math.max(20, minutes * 60 - fixed.outage - fixed.recovery - fixed.quiet);
  return { ...fixed, warmUp: rest * 0.2, busy: rest * 0.4, mixed: rest * 0.4 };
}

/** Results of one phase. */
export interface PhaseResults {
  totals: ClientTotals;
  traffic: Traffic;
}

/** Results of the soak test. */
export type SoakResults = Awaited<ReturnType<typeof soak>>;

const PROGRESS_SECONDS = 5;

/** @param report called with each line of progress */
export async function soak(phases: Phases, clients: number, random: () => number, report: (line: string) => void) {
  const ledger = new Ledger();
  await using upstream = await startSoakUpstream(ledger, random);
  await using gateway = await startProbedGateway(upstream.url);
  let totals = createTotals();
  let onCircuitOpen = () => {};
  let lastUnavailableAt = 0;
  const load = startLoad(gateway.url, clients, ledger, random, (result) => {
    addResult(totals, result);
    if (result.isCircuitOpen) {
      onCircuitOpen();
    }
    if (result.codes.includes('UPSTREAM_UNAVAILABLE')) {
      lastUnavailableAt = result.at;
    }
  });
  const watch = watchGateway(gateway, upstream, load, report);

  /** Runs a phase and returns its results. */
  async function runPhase(name: string, seconds: number, faultRates?: FaultRates): Promise<PhaseResults> {
    totals = createTotals();
    upstream.countTraffic();
    if (faultRates !== undefined) {
      upstream.setFaultRates(faultRates);
    }
    report(`${name}, ${Math.round(seconds)} s`);
    await sleep(seconds * 1_000);
    const results = { totals, traffic: upstream.countTraffic() };
    report(describePhase(name, results.totals, results.traffic));
    return results;
  }

  const warmUp = await runPhase('warm-up', phases.warmUp, NO_FAULTS);
  const warm = await gateway.vitals('collect garbage');
  watch.rss.length = 0;
  const busy = await runPhase('one request in ten is 503', phases.busy, SOME_503);
  load.setDisconnectShare(0.05);
  const mixed = await runPhase('mixed faults, one client in twenty disconnects', phases.mixed, MIXED_FAULTS);
  load.setDisconnectShare(0);

  let opened: { offered: number; arrived: number } | undefined;
  const arrivedBeforeOutage = upstream.arrived();
  onCircuitOpen = () => {
    opened ??= { offered: load.sent, arrived: upstream.arrived() };
  };
  const outage = await runPhase('outage: everything is 503', (phases.outage * 2) / 3, ONLY_503);
  await upstream.refuse();
  report(`outage: connections are refused, ${Math.round(phases.outage / 3)} s`);
  await sleep((phases.outage / 3) * 1_000);
  const whileOpen =
    opened === undefined
      ? { offered: 1, reached: upstream.arrived() - arrivedBeforeOutage } // The circuit breaker never opened, which exceeds the bound.
      : { offered: load.sent - opened.offered, reached: upstream.arrived() - opened.arrived };
  onCircuitOpen = () => {};

  upstream.setFaultRates(NO_FAULTS);
  await upstream.listen();
  const outageEndedAt = performance.now();
  const recovery = await runPhase('recovery', phases.recovery);
  const recoverySeconds = Math.max(0, lastUnavailableAt - outageEndedAt) / 1_000;

  await load.stop();
  await watch.stop();
  report(`quiet, ${phases.quiet} s`);
  await sleep(phases.quiet * 1_000);
  const socketsAtEnd = upstream.open();
  const end = await gateway.vitals('collect garbage');
  const exitCode = await gateway.stop();
  return {
    warmUp,
    busy,
    mixed,
    outage,
    recovery,
    /** Operations sent and requests received upstream while the circuit breaker was open during the outage. */
    whileOpen,
    /** Time from the end of the outage to the last failure that it caused, in seconds. */
    recoverySeconds,
    /** Resident memory in MB, measured once per second after the warm-up. */
    rss: watch.rss,
    maxSockets: upstream.mostOpen(),
    socketsAtEnd,
    /** Measured after a garbage collection, like `end`. */
    warm,
    end,
    audit: ledger.audit(),
    writes: ledger.size,
    logLines: gateway.logLines,
    exitCode,
  };
}

/** Takes measurements once per second and reports progress every few seconds. */
function watchGateway(gateway: ProbedGateway, upstream: SoakUpstream, load: Load, report: (line: string) => void) {
  const rss: number[] = [];
  const stopping = new AbortController();

  async function run(): Promise<void> {
    let offered = 0;
    let longestBlockMs = 0;
    for (let second = 1; !stopping.signal.aborted; second += 1) {
      await sleep(1_000);
      const vitals = await gateway.vitals();
      rss.push(vitals.rssMb);
      longestBlockMs = Math.max(longestBlockMs, vitals.longestBlockMs);
      if (second % PROGRESS_SECONDS === 0) {
        const rate = Math.round((load.sent - offered) / PROGRESS_SECONDS);
        offered = load.sent;
        report(
          `  ${rate} operations/s, RSS ${vitals.rssMb.toFixed(0)} MB, heap ${vitals.heapMb.toFixed(0)} MB, ` +
            `${upstream.open()} sockets, longest block ${longestBlockMs.toFixed(0)} ms`,
        );
        longestBlockMs = 0;
      }
    }
  }

  const running = run();
  return {
    rss,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
