/** How long each phase takes, in seconds. */
export interface Phases {
  warmUp: number;
  /** One request in ten is answered 503. */
  busy: number;
  /** All faults, and clients that leave. */
  mixed: number;
  /** Two thirds of it everything is 503, then connections are refused. */
  outage: number;
  recovery: number;
  /** Without load: sockets and timers go away. */
  quiet: number;
}

export function planPhases(minutes: number): Phases {
  const fixed = { outage: minutes < 2 ? 10 : 30, recovery: 12, quiet: 8 };
  const rest = Math.max(20, minutes * 60 - fixed.outage - fixed.recovery - fixed.quiet);
  return { ...fixed, warmUp: rest * 0.2, busy: rest * 0.4, mixed: rest * 0.4 };
}
