import { OURS, type Subject } from '../../subjects.ts';
import { beside, findMissing } from '../packages.ts';

/** GraphQL Yoga with Pothos, DataLoader and undici, set up as in their documentation, with default options. */
export const STOCK_YOGA: Subject = {
  name: 'stock-yoga',
  title: 'Stock GraphQL Yoga',
  findObstacle: () =>
    findMissing('Stock GraphQL Yoga', ['graphql-yoga', '@pothos/core', 'graphql', 'dataloader', 'undici']),
  command: ({ port, upstream }) => ({
    file: process.execPath,
    args: [beside(import.meta.url, 'server.ts')],
    env: { NODE_ENV: 'production', PORT: String(port), UPSTREAM: upstream },
  }),
  requests: OURS.requests,
};
