// Defines filters of messages, and the addresses that contain them.

import type { Channel } from '../documents.gen.ts';
import { CHANNELS } from '../statistics/day.ts';

/** Which messages are shown: those of a transaction, to a subscriber, over a channel. An empty text stands for all. */
export interface MessageFilter {
  transaction: string;
  subscriber: string;
  channel: Channel | '';
}

export const NO_FILTER: MessageFilter = { transaction: '', subscriber: '', channel: '' };

/** Returns the channel with this name; an empty text if there is none. */
export const toChannel = (name: string | null): Channel | '' => CHANNELS.find((channel) => channel === name) ?? '';

/** Returns the address of a page of messages, so that it can be linked and survives reloading. */
export function messagesAddress(filter: Partial<MessageFilter>, page = 1): string {
  const params = new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== ''));
  if (page > 1) {
    params.set('page', String(page));
  }
  return params.size === 0 ? '#/messages' : `#/messages?${params}`;
}
