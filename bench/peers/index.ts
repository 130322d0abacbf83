import type { Subject } from '../subjects.ts';
import { APOLLO } from './apollo/subject.ts';
import { HIVE } from './hive/subject.ts';
import { STOCK_YOGA } from './stock-yoga/subject.ts';
import { TAILCALL } from './tailcall/subject.ts';

/** Other ways to put a GraphQL API in front of the same service. Loading them needs none of their packages, running them does. */
export const PEERS: readonly Subject[] = [STOCK_YOGA, APOLLO, HIVE, TAILCALL];
