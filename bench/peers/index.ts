import type { Subject } from '../subjects.ts';
import { APOLLO } from './apollo/subject.ts';
import { HIVE } from './hive/subject.ts';
import { STOCK_YOGA } from './stock-yoga/subject.ts';
import { TAILCALL } from './tailcall/subject.ts';

/** Other GraphQL servers in front of the same service. Their packages are needed to run them, but not to import this module. */
export const PEERS: readonly Subject[] = [STOCK_YOGA, APOLLO, HIVE, TAILCALL];
