// Gives a field a client and loaders of its own, although all fields of an operation have one context, by which modules keep what they share.

import { AsyncLocalStorage } from 'node:async_hooks';
import { memoizeByObject } from '../lib/memoize.ts';
import type { FieldWrites } from '../upstream/calls.ts';
import type { FieldContext } from './loaders.ts';

/** Context of an operation, and what one of its fields has instead of the context's client and loaders. */
type Field = Readonly<{ context: FieldContext; own: FieldContext }>;

const running = new AsyncLocalStorage<Field>();

/** Lets a context have what the running field has. Once it is needed, because most operations don't need it. */
const openContext = memoizeByObject((context: FieldContext): void => {
  const shared = { upstream: context.upstream, loaders: context.loaders };
  const current = () => {
    const field = running.getStore();
    return field?.context === context ? field.own : shared; // A resolver can start another operation.
  };
  Object.defineProperties(context, {
    upstream: { get: () => current().upstream },
    loaders: { get: () => current().loaders },
  });
});

/** Runs a function of a field, which has its own client and loaders until its promise settles, also for what it doesn't wait for. */
export function runWith<Args extends unknown[], T>(field: Field, run: (...args: Args) => T, ...args: Args): T {
  openContext(field.context);
  return running.run(field, run, ...args);
}

/** Returns the client and loaders of a mutation's field, or of an item of it, whose writes count there. */
export const ownWrites = ({ upstream, loaders }: FieldContext, own: FieldWrites): FieldContext => ({
  upstream: {
    read: (endpoint, args) => upstream.read(endpoint, args),
    write: (endpoint, args, writes = own) => upstream.write(endpoint, args, writes),
  },
  loaders,
});
