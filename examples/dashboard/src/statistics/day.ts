// Defines the days of the statistics, and the channels of notifications.

import type { Channel, StatisticsResult } from '../documents.gen.ts';

/** Number of days that the app shows by default. */
export const DAYS = 30;

/** Notifications sent on one day. */
export type Day = NonNullable<NonNullable<StatisticsResult['notificationStats']>[number]>;

/** Removes the days that the service sent in an invalid form. */
export const validDays = (days: StatisticsResult['notificationStats'] | undefined): Day[] | undefined =>
  days?.filter((day) => day !== null);

/** Returns the newest day: it had not ended when it was loaded. */
export const partialDay = (days: readonly Day[]): Day | undefined => days.findLast(({ date }) => date !== null);

/** Whether it is the current day, in UTC as all days of the service. */
export const isToday = ({ date }: Day): boolean => date === new Date().toISOString().slice(0, 10);

/** The channels in the order in which they are shown. */
export const CHANNELS: readonly Channel[] = ['IN_APP', 'EMAIL', 'PUSH', 'SMS', 'CHAT'];

export const CHANNEL_NAMES: Readonly<Record<Channel, string>> = {
  IN_APP: 'In-app',
  EMAIL: 'Email',
  PUSH: 'Push',
  SMS: 'SMS',
  CHAT: 'Chat',
};
