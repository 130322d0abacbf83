// Shows the chart's data as a table.

import { type Day, partialDay } from './day.ts';
import { formatChannels, formatCount, formatDay } from './formats.ts';

export function StatisticsTable({ days }: { days: readonly Day[] }) {
  return (
    <details className="table-details">
      <summary>Show as a table</summary>
      <div className="table-frame">
        <table>
          <caption className="visually-hidden">Notifications per day</caption>
          <thead>
            <tr>
              <th scope="col">Day</th>
              <th scope="col" className="number">
                Notifications
              </th>
              <th scope="col">Channels</th>
              <th scope="col" className="number table-workflows">
                Workflows
              </th>
            </tr>
          </thead>
          <tbody>
            {days.toReversed().map((day) => (
              <tr key={day.key}>
                <th scope="row">
                  {formatDay(day)}
                  {day === partialDay(days) && ' (so far)'}
                </th>
                <td className="number">{formatCount(day.count)}</td>
                <td>{day.channels.length === 0 ? '–' : formatChannels(day.channels)}</td>
                <td className="number table-workflows">{day.workflowIds.length}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
