import { CHANNELS, type Day, formatChannels, formatCount, formatShortDay } from './day.ts';

/** The period in three numbers. */
export function Figures({ days, busiest }: { days: readonly Day[]; busiest: Day }) {
  const total = days.reduce((sum, { count }) => sum + count, 0);
  const used = CHANNELS.filter((channel) => days.some(({ channels }) => channels.includes(channel)));
  return (
    <dl className="figures">
      <div>
        <dt>Notifications</dt>
        <dd>{formatCount(total)}</dd>
      </div>
      <div>
        <dt>Busiest day</dt>
        <dd>
          {formatShortDay(busiest)}{' '}
          <span className="figure-more">
            {formatCount(busiest.count)} {busiest.count === 1 ? 'notification' : 'notifications'}
          </span>
        </dd>
      </div>
      <div>
        <dt>Channels used</dt>
        <dd>
          {used.length} <span className="figure-more">{formatChannels(used)}</span>
        </dd>
      </div>
    </dl>
  );
}
