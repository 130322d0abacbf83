// Defines the type of messages and the texts about them, and tells the cache about changes of them.

import type { MessagesResult } from '../documents.gen.ts';
import { CHANNEL_NAMES } from '../statistics/day.ts';

export type Message = NonNullable<NonNullable<MessagesResult['messages']>['messages'][number]>;

/** Tells the cache that an operation concerns messages even if its result has none, such as a deletion or an empty list. */
export const MESSAGES_CHANGE = { additionalTypenames: ['Message'] };

/** Returns the subject or the text, of which rows show the beginning. */
export const titleOf = ({ subject, content }: Message): string => subject || content || 'A message without a text';

export const channelOf = ({ channel }: Message): string => (channel === null ? 'Other' : CHANNEL_NAMES[channel]);

/** Returns how far a message came: `Sent`, `Seen`, `Read` or `Failed`. */
export const stateOf = ({ status, seen, read }: Message): string =>
  status === 'error' ? 'Failed' : read ? 'Read' : seen ? 'Seen' : status === 'warning' ? 'Sent with a warning' : 'Sent';

const TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });

export const formatTime = (time: string): string => TIME.format(new Date(time));
