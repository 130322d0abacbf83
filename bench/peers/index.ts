// Lists the GraphQL servers that the gateway is compared with.

import { fileURLToPath } from 'node:url';
import { OURS, type Subject } from '../subjects.ts';
import { HIVE } from './hive/subject.ts';
import { TAILCALL } from './tailcall/subject.ts';

/** Returns a server of our own, set up as in the documentation of its packages, with default options. */
const serverOf = (name: string, title: string, packages: readonly string[]): Subject => ({
  name,
  title,
  packages,
  command: ({ port, upstream }) => ({
    file: process.execPath,
    args: [fileURLToPath(new URL(`${name}/server.ts`, import.meta.url))],
    env: { NODE_ENV: 'production', PORT: String(port), UPSTREAM: upstream },
  }),
  requests: OURS.requests,
});

/** Other GraphQL servers in front of the same service. Their packages are needed to run them, but not to import this module. */
export const PEERS: readonly Subject[] = [
  serverOf('stock-yoga', 'Stock GraphQL Yoga', ['graphql-yoga', 'graphql', 'dataloader', 'undici']),
  serverOf('apollo', 'Apollo Server', ['@apollo/server', '@apollo/datasource-rest', 'graphql']),
  HIVE,
  TAILCALL,
];
