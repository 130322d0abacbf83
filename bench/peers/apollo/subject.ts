import { OURS, type Subject } from '../../subjects.ts';
import { beside, findMissing } from '../packages.ts';

/** Apollo Server with a REST data source, set up as in their documentation, with default options. */
export const APOLLO: Subject = {
  name: 'apollo',
  title: 'Apollo Server',
  findObstacle: () => findMissing('Apollo Server', ['@apollo/server', '@apollo/datasource-rest', 'graphql']),
  command: ({ port, upstream }) => ({
    file: process.execPath,
    args: [beside(import.meta.url, 'server.ts')],
    env: { NODE_ENV: 'production', PORT: String(port), UPSTREAM: upstream },
  }),
  requests: OURS.requests,
};
