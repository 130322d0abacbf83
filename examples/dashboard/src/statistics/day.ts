import type { Channel, StatisticsResult } from '../documents.gen.ts';

/** Number of days the app shows. */
export const DAYS = 30;

/** Notifications sent on one day. */
export type Day = NonNullable<NonNullable<StatisticsResult['notificationStats']>[number]>;

/** Removes the days that the service sent in an invalid form. */
export const validDays = (days: StatisticsResult['notificationStats'] | undefined): Day[] | undefined =>
  days?.filter((day) => day !== null);

/** The channels in the order in which they are shown. */
export const CHANNELS: readonly Channel[] = ['IN_APP', 'EMAIL', 'PUSH', 'SMS', 'CHAT'];

export const CHANNEL_NAMES: Readonly<Record<Channel, string>> = {
  IN_APP: 'In-app',
  EMAIL: 'Email',
  PUSH: 'Push',
  SMS: 'SMS',
  CHAT: 'Chat',
};

const NUMBER = new Intl.NumberFormat('en');
const LONG = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', weekday: 'long', day: 'numeric', month: 'long' });
const SHORT = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', day: 'numeric', month: 'short' });

export const formatCount = (count: number): string => NUMBER.format(count);

/** `Tuesday 4 March`; the service's own key when the entry is no day. */
export const formatDay = ({ date, key }: Day): string => (date === null ? key : LONG.format(new Date(date)));

/** `4 Mar` */
export const formatShortDay = ({ date, key }: Day): string => (date === null ? key : SHORT.format(new Date(date)));

/** Returns `In-app, Email`, or that there was none. */
export const formatChannels = (channels: readonly Channel[]): string =>
  channels.length === 0
    ? 'no channel'
    : CHANNELS.filter((channel) => channels.includes(channel))
        .map((channel) => CHANNEL_NAMES[channel])
        .join(', ');
