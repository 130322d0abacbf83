// Formats numbers, days and channels of the statistics.

import type { Channel } from '../documents.gen.ts';
import { CHANNEL_NAMES, CHANNELS, type Day, partialDay } from './day.ts';

const NUMBER = new Intl.NumberFormat('en');
const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const LONG = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', weekday: 'long', day: 'numeric', month: 'long' });
const MONTH = new Intl.DateTimeFormat('en', { timeZone: 'UTC', month: 'short' });

/** `1,234` */
export const formatCount = (count: number): string => NUMBER.format(count);

/** `1.2K` */
export const formatCompact = (count: number): string => COMPACT.format(count);

/** `1,234 notifications` */
export const formatNotifications = (count: number): string =>
  `${formatCount(count)} ${count === 1 ? 'notification' : 'notifications'}`;

/** `1,234 notifications`, and `so far` for the day that has not ended. */
export const formatSent = (day: Day, days: readonly Day[]): string =>
  `${formatNotifications(day.count)}${day === partialDay(days) ? ' so far' : ''}`;

/** `Tuesday 4 March`; the service's own key if the entry is no day. */
export const formatDay = ({ date, key }: Day): string => (date === null ? key : LONG.format(new Date(date)));

/** `4 Mar` */
export const formatShortDay = ({ date, key }: Day): string =>
  date === null ? key : `${new Date(date).getUTCDate()} ${MONTH.format(new Date(date))}`;

/** Returns `In-app, Email`, or that there was none. */
export const formatChannels = (channels: readonly Channel[]): string =>
  channels.length === 0
    ? 'no channel'
    : CHANNELS.filter((channel) => channels.includes(channel))
        .map((channel) => CHANNEL_NAMES[channel])
        .join(', ');

/** Returns the local time at which the service's days begin, or undefined if it is midnight. */
export function formatDayStart({ date }: Day): string | undefined {
  const time = new Date(date ?? 0).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
  return time === '00:00' ? undefined : time;
}
