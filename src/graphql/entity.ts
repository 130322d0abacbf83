import type { GatewayContext } from './context.ts';

/** Returns the record that has this key, or null. */
export type LoadByKey = (key: string, context: GatewayContext) => Promise<object | null>;

/** Key by which other subgraphs can refer to a record, although the service has no endpoint that reads it. */
export const NO_ENDPOINT = undefined;

/** Identity of a type's records in a federated graph, declared with the type: `extensions: { entity: new Entity({ id: … }) }`. */
export class Entity {
  /** Fields that identify a record, each with the function that loads it. */
  readonly keys: ReadonlyMap<string, LoadByKey | undefined>;

  constructor(keys: Readonly<Record<string, LoadByKey | undefined>>) {
    this.keys = new Map(Object.entries(keys));
  }

  /** Whether the service can be asked for a record. */
  get isResolvable(): boolean {
    return [...this.keys.values()].some((load) => load !== undefined);
  }
}

/** Returns the entity of a type; undefined if other subgraphs can't refer to its records. */
export const entityOf = ({ extensions }: { extensions: { entity?: unknown } }): Entity | undefined =>
  extensions.entity instanceof Entity ? extensions.entity : undefined;
