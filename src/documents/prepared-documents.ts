// Caches documents with everything computed once per operation, such as plans and required scopes.

import { type DocumentNode, type GraphQLSchema, getOperationAST, type OperationDefinitionNode } from 'graphql';
import type { YogaServerOptions } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import { createPlanSizes, OperationPlans, type PlanSizes } from '../executor/plans.ts';
import { memoizeByObject } from '../lib/memoize.ts';
import { createMeasure } from './operations/limits.ts';
import {
  createFindMissingScopes,
  type FindMissingScopes,
  findRepresentations,
  type ReadRepresentations,
} from './operations/required-scopes.ts';
import { listDeprecated, readDeprecatedUsage } from './validate.ts';

/**
 * Maximum characters of all cached documents, and of all syntax errors with their documents. A parsed document takes 60 to 260 bytes of heap per
 * character: most if it consists of comments. Plans have a limit of their own.
 */
const MAX_CACHED_CHARACTERS = 100_000;

/** Characters that count for an entry besides its text, for at most 5 validation errors. */
const CHARACTERS_PER_ENTRY = 100;

/** Schemas for which documents are prepared, and what they share. */
interface Preparation {
  /** Schema that executes it: the gateway's own, or that of a plugin of the host. */
  readonly schema: GraphQLSchema;
  /** Schema with the required scopes: the gateway's own, because another one could lack them. */
  readonly scopeSchema: GraphQLSchema;
  readonly hasDeprecated: boolean;
  readonly planSizes: PlanSizes;
}

/**
 * Cache of documents by text. Limited by characters, least recently used first: Yoga's own caches count entries, and 1,100 anonymous documents
 * of 32 KB grew the heap from 32 to 335 MB.
 */
export class PreparedDocuments {
  readonly #schema: GraphQLSchema;
  readonly #byText = new LRUCache<string, PreparedDocument>({
    maxSize: MAX_CACHED_CHARACTERS,
    sizeCalculation: (_document, text) => CHARACTERS_PER_ENTRY + text.length,
  });
  readonly #planSizes = createPlanSizes();
  readonly #bySchema = memoizeByObject((schema: GraphQLSchema) => {
    const preparation: Preparation = {
      schema,
      scopeSchema: this.#schema,
      hasDeprecated: listDeprecated(schema).size > 0,
      planSizes: this.#planSizes,
    };
    return memoizeByObject((node: DocumentNode) => new PreparedDocument(node, preparation));
  });

  /** For Yoga's parser. */
  readonly parserCaches: Extract<YogaServerOptions<object, object>['parserAndValidationCache'], object> = {
    documentCache: {
      get: (text) => this.#byText.get(text)?.node,
      set: (text, document) => {
        this.#byText.set(text, this.of(document));
      },
    },
    errorCache: new LRUCache<string, Error>({
      maxSize: MAX_CACHED_CHARACTERS,
      sizeCalculation: ({ message }, text) => CHARACTERS_PER_ENTRY + text.length + message.length,
    }),
  };

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  /** Returns the document with this text if it was found valid. */
  findValid(text: string): PreparedDocument | undefined {
    const document = this.#byText.get(text);
    return document?.isValid ? document : undefined;
  }

  /**
   * Returns the prepared form of a document, which lives at least as long as the document.
   *
   * @param schema schema that executes the document. @default the gateway's own
   */
  of(node: DocumentNode, schema = this.#schema): PreparedDocument {
    return this.#bySchema(schema)(node);
  }
}

export class PreparedDocument {
  readonly node: DocumentNode;
  /** Whether it was found valid for the schema and within the limits. */
  isValid = false;
  readonly #preparation: Preparation;
  readonly #operations = new Map<string | undefined, Operation>();

  constructor(node: DocumentNode, preparation: Preparation) {
    this.node = node;
    this.#preparation = preparation;
  }

  /** Returns the operation with this name; without a name, the only one. Returns undefined if there is no such operation. */
  operation(name: string | undefined): Operation | undefined {
    let operation = this.#operations.get(name);
    if (operation === undefined) {
      const node = getOperationAST(this.node, name);
      if (node != null) {
        operation = new Operation(this.node, node, this.#preparation);
        this.#operations.set(name, operation);
      }
    }
    return operation;
  }
}

/** Operation of a document, with everything that is derived from it once for all of its executions. */
export class Operation {
  /** Its name; `anonymous` if it has none. */
  readonly name: string;
  readonly type: 'query' | 'mutation';
  /** Reads the representations that it passes to `_entities`; undefined if it doesn't use that field. */
  readonly representations: ReadRepresentations | undefined;
  readonly node: OperationDefinitionNode;
  readonly #document: DocumentNode;
  readonly #preparation: Preparation;
  #fields: number | undefined;
  #plans: OperationPlans | undefined;
  #findMissingScopes: FindMissingScopes | undefined;
  #deprecated: readonly string[] | undefined;

  constructor(document: DocumentNode, node: OperationDefinitionNode, preparation: Preparation) {
    this.name = node.name?.value ?? 'anonymous';
    this.type = node.operation === 'mutation' ? 'mutation' : 'query';
    this.representations = findRepresentations(preparation.schema, document, node);
    this.#document = document;
    this.node = node;
    this.#preparation = preparation;
  }

  get fields(): number {
    this.#fields ??= createMeasure(this.#document)(this.node).fields;
    return this.#fields;
  }

  get plans(): OperationPlans {
    const { schema, planSizes } = this.#preparation;
    this.#plans ??= new OperationPlans(schema, this.#document, this.node, this.fields, planSizes);
    return this.#plans;
  }

  get findMissingScopes(): FindMissingScopes {
    this.#findMissingScopes ??= createFindMissingScopes(this.#preparation.scopeSchema, this.#document, this.node);
    return this.#findMissingScopes;
  }

  /** Coordinates of the deprecated elements in its text; undefined if there are none. */
  get deprecated(): readonly string[] | undefined {
    const { schema, hasDeprecated } = this.#preparation;
    if (hasDeprecated) {
      this.#deprecated ??= readDeprecatedUsage(schema, this.#document, this.node);
    }
    return this.#deprecated?.length === 0 ? undefined : this.#deprecated;
  }
}
