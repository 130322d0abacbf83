import { type Builder, createBuilder } from './builder.ts';

/** Part of the graph, such as a noun with its types and the fields of `Query` and `Mutation` that return them. */
export interface GatewayModule<Types = unknown> {
  /** Name, for messages. */
  readonly name: string;
  /** Adds the module's types and fields to a schema. Returns the types that other modules refer to. */
  readonly define: (toolkit: Toolkit) => Types;
}

/** Tools with which a module defines itself. */
export interface Toolkit {
  /** Builder of the schema. */
  readonly builder: Builder;
  /** Returns the types of another module, which becomes part of the schema. */
  readonly use: <Types>(module: GatewayModule<Types>) => Types;
}

/**
 * Declares a part of the graph.
 *
 * @example defineModule('feeds', ({ builder }) => { const Feed = builder.objectRef<FeedBody>('Feed').implement({ … }); return { Feed }; })
 */
export const defineModule = <Types>(name: string, define: (toolkit: Toolkit) => Types): GatewayModule<Types> => ({
  name,
  define,
});

/** Defines modules with a builder of their own. Each is defined once, also if several others use it. */
export function defineAll(modules: readonly GatewayModule[]): Builder {
  const builder = createBuilder();
  const types = new Map<GatewayModule, unknown>();
  const use = <Types>(module: GatewayModule<Types>): Types => {
    if (!types.has(module)) {
      types.set(module, module.define({ builder, use }));
    }
    return types.get(module) as Types; // What this module's `define` returned.
  };
  modules.forEach(use);
  return builder;
}
