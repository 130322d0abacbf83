// Settings of the server, with the limits that it shares with the gateway.

import { z } from 'zod';
import { integer, setting } from '../../../../src/settings/define.ts';
import { inFlight, memory } from '../../../../src/settings/settings.ts';

export const httpServer = {
  maxEventLoopDelayMs: setting(
    integer(10, 60_000).default(200),
    'Delay of the event loop above which requests are 503 while at least 16 are being answered.',
  ),
  maxConnections: setting(
    integer(10, 1_000_000).default(10_000),
    'Maximum open connections of clients. One more closes the oldest that waits for its client.',
  ),
  drainDelayMs: setting(
    integer(0, 60_000).default(0),
    'Time after SIGTERM in which the process serves as before but is not ready, so that load balancers take it out. Each response closes its connection.',
  ),
  drainTimeoutMs: setting(
    integer(0, 600_000).default(20_000),
    'Time after that in which in-flight requests can finish. Idle connections are closed after a quarter of it, at most 5 s.',
  ),
};

/** Settings of a server. It rejects requests beyond the limits that it shares with the gateway before it reads them. */
export const SERVER_TABLE = z.object({ ...memory, ...inFlight, ...httpServer });

export type ServerSettings = Readonly<z.output<typeof SERVER_TABLE>>;
