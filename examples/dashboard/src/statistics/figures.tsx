// Shows the period in numbers.

import { CHANNELS, type Day, isToday, partialDay } from './day.ts';
import { formatChannels, formatCount, formatNotifications, formatShortDay } from './formats.ts';

export function Figures({ days, busiest }: { days: readonly Day[]; busiest: Day }) {
  const partial = partialDay(days);
  const whole = days.filter((day) => day !== partial);
  const average = sum(whole) / Math.max(1, whole.length);
  return (
    <dl className="figures">
      <div>
        <dt>Notifications</dt>
        <dd>{formatCount(sum(days))}</dd>
      </div>
      <div>
        <dt>Average day</dt>
        <dd>
          {formatCount(Math.round(average))}{' '}
          <span className="figure-more">without {partial && isToday(partial) ? 'today' : 'the last day'}</span>
        </dd>
      </div>
      <div>
        <dt>Busiest day</dt>
        <dd>
          {formatShortDay(busiest)} <span className="figure-more">{formatNotifications(busiest.count)}</span>
        </dd>
      </div>
      <Channels days={days} />
    </dl>
  );
}

const sum = (days: readonly Day[]): number => days.reduce((total, { count }) => total + count, 0);

/** The channels in use. Only those not used on every day have a number: the service doesn't count notifications per channel. */
function Channels({ days }: { days: readonly Day[] }) {
  const active = days.filter(({ count }) => count > 0);
  const uses = CHANNELS.map((channel) => ({
    channel,
    days: active.filter(({ channels }) => channels.includes(channel)).length,
  })).filter(({ days }) => days > 0);
  const always = uses.filter(({ days }) => days === active.length);
  const texts = [
    ...(always.length > 0 ? [`${formatChannels(always.map(({ channel }) => channel))} every day`] : []),
    ...uses
      .filter((use) => !always.includes(use))
      .map(({ channel, days }) => `${formatChannels([channel])} on ${days} of ${active.length} days`),
  ];
  return (
    <div>
      <dt>Channels used</dt>
      <dd>
        {uses.length} <span className="figure-more">{texts.join('; ')}</span>
      </dd>
    </div>
  );
}
