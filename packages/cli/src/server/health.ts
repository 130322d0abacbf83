// Answers health checks and scrapes of metrics.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { refuse } from '../../../../src/errors/codes.ts';
import { sendRefusal } from './send-refusal.ts';

export interface Health {
  /** Reason for failing, in a word or two; undefined if it succeeds. */
  problem?: string | undefined;
  /** Further lines of the response. @default none */
  details?: Readonly<Record<string, string | number>>;
}

export interface Probes {
  /** Returns the response to `/livez`. */
  alive(): Health | Promise<Health>;
  /** Returns the response to `/readyz`. */
  ready(): Health | Promise<Health>;
  /** Returns the response body for `/metrics`. @default none: the path does not exist */
  metrics?: (() => Promise<string>) | undefined;
}

/** Content type of the Prometheus text format. */
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Responds to a health check or a scrape. Returns false if the request is neither. */
export function respondProbe(request: IncomingMessage, response: ServerResponse, probes: Probes): boolean {
  switch (request.url?.split('?', 1)[0]) {
    case '/livez':
      void respondHealth(response, probes.alive());
      return true;
    case '/readyz':
      void respondHealth(response, probes.ready());
      return true;
    case '/metrics':
      if (probes.metrics !== undefined) {
        void respondMetrics(response, probes.metrics());
        return true;
      }
  }
  return false;
}

/**
 * Creates the listener of a port that has nothing but health checks and metrics, and the configuration.
 *
 * @param describeConfig returns the configuration as JSON, without secrets
 */
export const createProbeListener =
  (probes: () => Probes, describeConfig: () => string): RequestListener =>
  (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      const allow = { allow: 'GET, HEAD' };
      sendRefusal(response, refuse('METHOD_NOT_ALLOWED', 'Use GET.', { headers: allow }), { closes: true });
    } else if (request.url === '/config') {
      response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' });
      response.end(describeConfig());
    } else if (!respondProbe(request, response, probes())) {
      sendRefusal(response, refuse('NOT_FOUND', 'Unknown path. This port has /livez, /readyz, /metrics and /config.'));
    }
  };

/** Responds to a health check: 200, or 503 with the problem. */
async function respondHealth(response: ServerResponse, health: Health | Promise<Health>): Promise<void> {
  const { problem, details = {} } = await Promise.resolve(health).catch(toUnavailable);
  response.writeHead(problem === undefined ? 200 : 503, { 'content-type': 'text/plain', 'cache-control': 'no-store' });
  const lines = Object.entries(details).map(([name, value]) => `${name}: ${value}\n`);
  response.end(`${problem ?? 'ok'}\n${lines.join('')}`);
}

const toUnavailable = (): Health => ({ problem: 'unavailable' });

/** Responds to a scrape with the metrics once they are collected. */
async function respondMetrics(response: ServerResponse, metrics: Promise<string>): Promise<void> {
  try {
    const text = await metrics;
    response.writeHead(200, { 'content-type': METRICS_TYPE, 'cache-control': 'no-store' });
    response.end(text);
  } catch {
    response.writeHead(500, { 'content-type': 'text/plain' });
    response.end('The metrics are unavailable.\n');
  }
}
