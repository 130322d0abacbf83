// All resources of the sandbox.

import type { Resource } from '../resource.ts';
import { resource as events } from './events.ts';
import { resource as feeds } from './feeds.ts';
import { resource as inbox } from './inbox.ts';
import { resource as messages } from './messages.ts';
import { resource as notificationGroups } from './notification-groups.ts';
import { resource as stats } from './stats.ts';
import { resource as subscribers } from './subscribers.ts';
import { resource as topics } from './topics.ts';
import { resource as workflows } from './workflows.ts';

/**
 * The resources of the sandbox, one per file of this folder, in the order of the page at `/`. Records refer only to those of resources below, so
 * they are written in the reverse order.
 */
export const resources: readonly Resource[] = [
  stats,
  inbox,
  messages,
  workflows,
  subscribers,
  topics,
  notificationGroups,
  feeds,
  events,
];
