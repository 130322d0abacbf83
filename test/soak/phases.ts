/** Duration of each phase, in seconds. */
export interface Phases {
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
