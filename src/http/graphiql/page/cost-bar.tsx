import type { UpstreamReport } from './config.ts';
import { countCalls } from './costs.ts';

/** Calls of the last operation: a line, and the calls of each field. */
export function CostBar({ report }: { report: UpstreamReport | undefined }) {
  if (report === undefined) {
    return null;
  }
  const fields = Object.entries(report.fields).toSorted(([, a], [, b]) => b - a);
  return (
    <details className="cost-bar">
      <summary>Upstream: {summarize(report)}</summary>
      {fields.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Calls</th>
            </tr>
          </thead>
          <tbody>
            {fields.map(([field, count]) => (
              <tr key={field}>
                <th scope="row">{field}</th>
                <td>{count}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p>A call that several fields needed counts for each of them.</p>
    </details>
  );
}

function summarize({ calls, shared, cached, retries, unsent = 0, ms, rateLimitRemaining }: UpstreamReport): string {
  const parts = [countCalls({ min: calls, max: calls })];
  for (const [count, noun] of [
    [shared, 'shared'],
    [cached, 'cached'],
    [unsent, 'not sent'],
    [retries, retries === 1 ? 'retry' : 'retries'],
  ] as const) {
    if (count > 0) {
      parts.push(`${count} ${noun}`);
    }
  }
  if (calls > 0) {
    parts.push(`${Math.round(ms)} ms`);
  }
  if (rateLimitRemaining !== undefined) {
    parts.push(`${rateLimitRemaining} left of the service’s rate limit`);
  }
  return parts.join(' · ');
}
