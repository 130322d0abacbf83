// Measures the operations of a document, and finds the first limit that one exceeds.

import { type DocumentNode, type FieldNode, Kind, type OperationDefinitionNode, type SelectionSetNode } from 'graphql';
import { fragmentsOf } from '../../executor/selections.ts';
import type { GatewaySettings } from '../../settings/settings.ts';

export type DocumentLimits = Pick<GatewaySettings, 'maxDepth' | 'maxRootFields' | 'maxFields'>;

/** Maximum length of a document, with comments. Tokens of 32 characters on average reach `MAX_TOKENS` at the same time. */
export const MAX_CHARACTERS = 32 * 1_024;

/** Maximum tokens of a document, as in GraphQL Armor. The largest shipped operation has a fifth of them. */
export const MAX_TOKENS = 1_000;

/** Maximum aliases for each root field that is allowed, as in the examples of Apollo's router: 30 for 20. Each can repeat a whole selection. */
const ALIASES_PER_ROOT_FIELD = 1.5;

/** Maximum directives, as in GraphQL Armor. A page with conditional parts has one or two for each, and fragments count as often as they are spread. */
const MAX_DIRECTIVES = 50;

/**
 * Maximum aliases of and inside fields that return the schema. Each can return all of it again, also to clients without a credential. Tools
 * use none.
 */
const MAX_SCHEMA_ALIASES = 5;

const SCHEMA_FIELDS: ReadonlySet<string> = new Set(['__schema', '__type', '_service']);

/** Finds the first exceeded limit. Returns a message that names it, or undefined. */
export function findExceededLimit(document: DocumentNode, { maxDepth, maxRootFields, maxFields }: DocumentLimits) {
  const operations = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  if (operations.some(({ operation }) => operation === 'subscription')) {
    return 'Subscriptions are not supported; use a query.';
  }
  const measure = createMeasure(document);
  const sizes = operations.map(measure);
  const most = (key: keyof Size) => Math.max(0, ...sizes.map((size) => size[key]));
  const checks: [found: number, limit: number, unit: string][] = [
    [most('depth'), maxDepth, 'levels of fields'],
    [most('aliases'), Math.floor(ALIASES_PER_ROOT_FIELD * maxRootFields), 'aliases'],
    [most('schemaAliases'), MAX_SCHEMA_ALIASES, 'aliases in introspection'],
    [most('ownFields'), maxRootFields, 'root fields'],
    [most('fields'), maxFields, 'fields'],
    [most('directives'), MAX_DIRECTIVES, 'directives'],
  ];
  const exceeded = checks.find(([found, limit]) => found > limit);
  return exceeded && `The operation has ${exceeded[0]} ${exceeded[2]}; at most ${exceeded[1]} are allowed.`;
}

const EMPTY = { depth: 0, aliases: 0, schemaAliases: 0, directives: 0, ownFields: 0, fields: 0 };

/** Size of a selection with its fragments expanded. */
type Size = typeof EMPTY;

/** Creates a function that measures operations. Measures each fragment once, however often it is spread; a cyclic one counts as empty. */
export function createMeasure(document: DocumentNode): (operation: OperationDefinitionNode) => Size {
  const fragments = fragmentsOf(document);
  const measured = new Map<string, Size>();

  function measureFragment(name: string): Size {
    let size = measured.get(name);
    if (size === undefined) {
      measured.set(name, EMPTY);
      size = measure(fragments[name]?.selectionSet);
      measured.set(name, size);
    }
    return size;
  }

  function measure(selectionSet: SelectionSetNode | undefined): Size {
    const total = { ...EMPTY };
    for (const node of selectionSet?.selections ?? []) {
      const inner = node.kind === Kind.FRAGMENT_SPREAD ? measureFragment(node.name.value) : measure(node.selectionSet);
      const size = node.kind === Kind.FIELD ? sizeOfField(node, inner) : inner;
      total.depth = Math.max(total.depth, size.depth);
      total.aliases += size.aliases;
      total.schemaAliases += size.schemaAliases;
      total.directives += inner.directives + (node.directives?.length ?? 0);
      total.ownFields += size.ownFields;
      total.fields += size.fields;
    }
    return total;
  }

  function sizeOfField({ name, alias }: FieldNode, inner: Size): Size {
    const isSchema = name.value === '__schema' || name.value === '__type';
    const aliases = inner.aliases + Number(alias !== undefined);
    return {
      depth: isSchema ? 1 : inner.depth + 1,
      aliases,
      schemaAliases: SCHEMA_FIELDS.has(name.value) ? aliases : inner.schemaAliases,
      directives: inner.directives,
      ownFields: 1,
      fields: inner.fields + 1,
    };
  }

  return ({ selectionSet, directives = [] }) => {
    const size = measure(selectionSet);
    return { ...size, directives: size.directives + directives.length };
  };
}
