import { setTimeout as sleep } from 'node:timers/promises';
import { type ProbedGateway, startProbedGateway, type Vitals } from '../support/probed-gateway.ts';
import { createLedger, type Ledger } from './ledger.ts';
import { type Load, startLoad } from './load.ts';
import type { Phases } from './phases.ts';
import { addOutcome, createTally, describe, type Tally } from './tally.ts';
import type { Sample } from './trend.ts';
import { type SoakUpstream, startSoakUpstream, type Traffic } from './upstream.ts';
import { BUSY_SIGNAL, DOWN, FAIR, MIXED, type Weather } from './weather.ts';

export interface SoakOptions {
  phases: Phases;
  clients: number;
  random: () => number;
  /** Takes a line of progress. */
  report(line: string): void;
}

/** What one phase came to. */
export interface PhaseFigures {
  tally: Tally;
  traffic: Traffic;
}

/** What the soak came to. */
export interface Figures {
  warmUp: PhaseFigures;
  busy: PhaseFigures;
  mixed: PhaseFigures;
  outage: PhaseFigures;
  recovery: PhaseFigures;
  /** From the moment that the breaker was seen open until the upstream was back. */
  whileOpen: { offered: number; reached: number };
  /** From the moment that the upstream was back to the last operation that it failed, in seconds. */
  recoverySeconds: number;
  /** Once a second, from the end of the warm-up on. */
  rss: Sample[];
  maxSockets: number;
  socketsAtEnd: number;
  /** After a garbage collection each. */
  warm: Vitals;
  end: Vitals;
  audit: ReturnType<Ledger['audit']>;
  writes: number;
  logLines: ReadonlyMap<number, number>;
  exitCode: number | null;
}

const PROGRESS_SECONDS = 5;

export async function soak({ phases, clients, random, report }: SoakOptions): Promise<Figures> {
  const ledger = createLedger();
  await using upstream = await startSoakUpstream(ledger, random);
  await using gateway = await startProbedGateway(upstream.url);
  let tally = createTally();
  let onOpen = () => {};
  let lastUnavailableAt = 0;
  const load = startLoad({
    url: gateway.url,
    ledger,
    random,
    clients,
    onOutcome(outcome) {
      addOutcome(tally, outcome);
      if (outcome.isCircuitOpen) {
        onOpen();
      }
      if (outcome.codes.includes('UPSTREAM_UNAVAILABLE')) {
        lastUnavailableAt = outcome.at;
      }
    },
  });
  const watch = watchGateway({ gateway, upstream, load, report });

  /** Lets a phase run; its figures start anew. */
  async function runPhase(name: string, seconds: number, weather?: Weather): Promise<PhaseFigures> {
    tally = createTally();
    upstream.countTraffic();
    if (weather !== undefined) {
      upstream.setWeather(weather);
    }
    report(`${name}, ${Math.round(seconds)} s`);
    await sleep(seconds * 1_000);
    const figures = { tally, traffic: upstream.countTraffic() };
    report(describe(name, figures.tally, figures.traffic));
    return figures;
  }

  const warmUp = await runPhase('warm-up', phases.warmUp, FAIR);
  const warm = await gateway.vitals('collect garbage');
  watch.rss.length = 0;
  const busy = await runPhase('one in ten is 503', phases.busy, BUSY_SIGNAL);
  load.setLeaveShare(0.05);
  const mixed = await runPhase('mixed faults, one client in twenty leaves', phases.mixed, MIXED);
  load.setLeaveShare(0);

  let opened: { offered: number; arrived: number } | undefined;
  const outageBegan = upstream.arrived;
  onOpen = () => {
    opened ??= { offered: load.offered, arrived: upstream.arrived };
  };
  const outage = await runPhase('outage: everything is 503', (phases.outage * 2) / 3, DOWN);
  await upstream.vanish();
  report(`outage: connections are refused, ${Math.round(phases.outage / 3)} s`);
  await sleep((phases.outage / 3) * 1_000);
  const whileOpen =
    opened === undefined
      ? { offered: 1, reached: upstream.arrived - outageBegan } // It never opened: the bound is missed.
      : { offered: load.offered - opened.offered, reached: upstream.arrived - opened.arrived };
  onOpen = () => {};

  upstream.setWeather(FAIR);
  await upstream.reappear();
  const backAt = performance.now();
  const recovery = await runPhase('recovery', phases.recovery);
  const recoverySeconds = Math.max(0, lastUnavailableAt - backAt) / 1_000;

  await load.stop();
  await watch.stop();
  report(`quiet, ${phases.quiet} s`);
  await sleep(phases.quiet * 1_000);
  const socketsAtEnd = upstream.sockets;
  const end = await gateway.vitals('collect garbage');
  const exitCode = await gateway.stop();
  return {
    warmUp,
    busy,
    mixed,
    outage,
    recovery,
    whileOpen,
    recoverySeconds,
    rss: watch.rss,
    maxSockets: watch.maxSockets(),
    socketsAtEnd,
    warm,
    end,
    audit: ledger.audit(),
    writes: ledger.size,
    logLines: gateway.logLines,
    exitCode,
  };
}

interface Watched {
  gateway: ProbedGateway;
  upstream: SoakUpstream;
  load: Load;
  report: SoakOptions['report'];
}

/** Measures once a second and says how it goes every few. */
function watchGateway({ gateway, upstream, load, report }: Watched) {
  const rss: Sample[] = [];
  let maxSockets = 0;
  const stopping = new AbortController();

  async function run(): Promise<void> {
    let offered = 0;
    let longestBlockMs = 0;
    for (let second = 1; !stopping.signal.aborted; second += 1) {
      await sleep(1_000);
      const vitals = await gateway.vitals();
      rss.push({ at: performance.now() / 1_000, size: vitals.rssMb });
      maxSockets = Math.max(maxSockets, upstream.sockets);
      longestBlockMs = Math.max(longestBlockMs, vitals.longestBlockMs);
      if (second % PROGRESS_SECONDS === 0) {
        const rate = Math.round((load.offered - offered) / PROGRESS_SECONDS);
        offered = load.offered;
        report(
          `  ${rate} operations/s, RSS ${vitals.rssMb.toFixed(0)} MB, heap ${vitals.heapMb.toFixed(0)} MB, ` +
            `${upstream.sockets} sockets, longest block ${longestBlockMs.toFixed(0)} ms`,
        );
        longestBlockMs = 0;
      }
    }
  }

  const running = run();
  return {
    rss,
    maxSockets: () => maxSockets,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
