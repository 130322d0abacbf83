import type { ServerResponse } from 'node:http';

/** Content type of the Prometheus text format. */
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Responds to a health check: 200, or 503 with the problem. */
export function respondHealth(response: ServerResponse, problem: string | undefined): void {
  response.writeHead(problem === undefined ? 200 : 503, { 'content-type': 'text/plain', 'cache-control': 'no-store' });
  response.end(`${problem ?? 'ok'}\n`);
}

/** Responds to a scrape with the metrics once they are collected. */
export async function respondMetrics(response: ServerResponse, metrics: Promise<string>): Promise<void> {
  try {
    const text = await metrics;
    response.writeHead(200, { 'content-type': METRICS_TYPE, 'cache-control': 'no-store' });
    response.end(text);
  } catch {
    response.writeHead(500, { 'content-type': 'text/plain' });
    response.end('The metrics are unavailable.\n');
  }
}
