import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import type { GatewayContext } from '../graphql/context.ts';
import { createReadDeprecatedUsage, listDeprecated } from '../graphql/documents/deprecated-usage.ts';
import { createDocumentCaches } from '../graphql/documents/document-cache.ts';
import { createRepresentationLimit, useDocumentLimits } from '../graphql/documents/validate.ts';
import { createExecutor, type Execute, useExecutor } from '../graphql/executor/execute.ts';
import { isRecord } from '../lib/is-record.ts';
import { refuse } from '../settings/refuse.ts';
import type { GatewaySettings } from '../settings/settings.ts';
import type { DeprecatedCounts } from '../telemetry/counts.ts';

/** Creates the engine, which parses, validates and executes documents. The pipeline handles HTTP. */
export function createEngine(
  schema: GraphQLSchema,
  settings: GatewaySettings,
  deprecatedCounts: DeprecatedCounts,
  plugins: readonly HostPlugin[],
): Engine {
  const execute = createExecute(settings, deprecatedCounts);
  const caches = createDocumentCaches();
  const yoga = createYoga<object, GatewayContext>({
    schema,
    plugins: [...ownPlugins(settings, execute, deprecatedCounts), ...plugins.map(checkPlugin)],
    parserAndValidationCache: caches,
    maskedErrors: false, // createClientErrors masks.
    logging: false,
  });
  const direct = { schema, documents: caches.documentCache, execute: async (args: ExecutionArgs) => execute(args) };
  return { yoga, direct: plugins.length > 0 ? undefined : direct };
}

/** Returns the gateway's own plugins, in the order in which they run. */
const ownPlugins = (settings: GatewaySettings, execute: Execute, deprecatedCounts: DeprecatedCounts) => [
  useExecutor(execute),
  useDocumentLimits(settings),
  useDeprecatedElements(deprecatedCounts),
  useOperationRules(), // After the limits: they tell more about a document that breaks both.
];

/** Creates the function that executes every operation. Rules about an operation with its variables belong here; those about documents are plugins. */
function createExecute(settings: GatewaySettings, deprecatedCounts: DeprecatedCounts): Execute {
  const limitRepresentations = createRepresentationLimit(settings);
  const readDeprecatedUsage = createReadDeprecatedUsage();
  const execute = createExecutor(settings);
  return (args) => {
    limitRepresentations?.(args);
    const deprecated = readDeprecatedUsage(args);
    if (deprecated.length > 0) {
      deprecatedCounts.add(deprecated);
      if (isRecord(args.contextValue)) {
        args.contextValue.deprecated = deprecated;
      }
    }
    return execute(args);
  };
}

/** Creates a plugin that declares the deprecated elements of the schema. */
const useDeprecatedElements = (counts: DeprecatedCounts): Plugin => ({
  onSchemaChange({ schema }) {
    counts.declare(listDeprecated(schema));
  },
});

/** Operation that is parsed, validated and ready to execute. */
export interface Operation {
  /** Name of the operation; `anonymous` if it has none. */
  readonly name: string;
  readonly type: 'query' | 'mutation';
  readonly document: DocumentNode;
  readonly operationName: string | undefined;
  execute(variables: Readonly<Record<string, unknown>>): Promise<ExecutionResult>;
}

/** Engine of operations. */
export interface Engine {
  yoga: YogaServerInstance<object, GatewayContext>;
  /** Executes documents that Yoga has validated; undefined if plugins of the host may observe or change every operation. */
  direct: DirectEngine | undefined;
}

/** Execution with the function that Yoga calls too, but without its hooks, which take longer than the executor. */
export interface DirectEngine {
  schema: GraphQLSchema;
  /** Documents that Yoga has parsed, by text. */
  documents: { get(text: string): DocumentNode | undefined };
  execute(args: ExecutionArgs): Promise<ExecutionResult>;
}

/** Document that is valid for the schema. */
interface ValidDocument {
  schema: GraphQLSchema;
  document: DocumentNode;
  execute(args: ExecutionArgs): Promise<ExecutionResult>;
}

/** Converts the text of a document to an operation. */
export type Prepare = (text: string, context: GatewayContext) => Operation;

/** Error of an invalid document, with all validation errors. */
export class InvalidDocument extends Error {
  override readonly name = 'InvalidDocument';
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[]) {
    super(errors[0]?.message);
    this.errors = errors;
  }
}

/**
 * Creates the function that parses, validates and resolves operations with Yoga's engine and all plugins. The function throws errors of
 * plugins, an `InvalidDocument`, or a `Refusal` with OPERATION_RESOLUTION_FAILURE or METHOD_NOT_ALLOWED.
 *
 * Without plugins of the host, Yoga sees each document once. After that, its hooks would take longer than everything else here.
 */
export function createPrepare({ yoga, direct }: Engine): Prepare {
  const validated = new WeakSet<DocumentNode>();

  function validateWithYoga(text: string, context: GatewayContext): ValidDocument {
    const { schema, parse, validate, contextFactory, execute } = yoga.getEnveloped(context);
    const document: DocumentNode = parse(text);
    const errors: readonly GraphQLError[] = validate(schema, document);
    if (errors.length > 0) {
      throw new InvalidDocument(errors);
    }
    return {
      schema,
      document,
      async execute(args) {
        const result: unknown = await execute({ ...args, contextValue: await contextFactory() });
        return requireSingleResult(result);
      },
    };
  }

  function findValidated(
    { schema, documents, execute }: DirectEngine,
    text: string,
    context: GatewayContext,
  ): ValidDocument {
    const known = documents.get(text);
    if (known !== undefined && validated.has(known)) {
      return { schema, document: known, execute };
    }
    const { document } = validateWithYoga(text, context);
    validated.add(document);
    return { schema, document, execute };
  }

  return (text, context) => {
    const { operationName } = context.params;
    const valid = direct === undefined ? validateWithYoga(text, context) : findValidated(direct, text, context);
    const { schema, document } = valid;
    const { name, operation } = resolveOperation(document, context); // A plugin may have replaced the document.
    return {
      name: name?.value ?? 'anonymous',
      type: operation === 'mutation' ? 'mutation' : 'query',
      document,
      operationName,
      execute: (variableValues) =>
        valid.execute({ schema, document, contextValue: context, variableValues, operationName }),
    };
  };
}

type AfterParse = ReturnType<NonNullable<Plugin<GatewayContext>['onParse']>>;

/** Resolves the operation as soon as the document is parsed, because Yoga applies the same rules later and with other error codes. */
export function useOperationRules(): Plugin<GatewayContext> {
  const resolve: AfterParse = ({ result, context }) => {
    if (isDocument(result)) {
      resolveOperation(result, context);
    }
  };
  return { onParse: () => resolve };
}

const isDocument = (result: unknown): result is DocumentNode =>
  typeof result === 'object' && result !== null && 'kind' in result && result.kind === Kind.DOCUMENT;

/** Returns the operation to execute. GET must not change anything, because browsers fetch links and images without the user's intent. */
function resolveOperation(document: DocumentNode, { params, request }: GatewayContext): OperationDefinitionNode {
  const operation = getOperationAST(document, params.operationName);
  if (operation == null) {
    throw refuse(
      'OPERATION_RESOLUTION_FAILURE',
      params.operationName === undefined
        ? 'The document contains no operation, or several. Send "operationName" to choose one.'
        : 'The document contains no operation with the name in "operationName".',
    );
  }
  if (operation.operation === 'mutation' && request.method === 'GET') {
    throw refuse('METHOD_NOT_ALLOWED', 'Mutations require POST.', { headers: { allow: 'POST' } });
  }
  return operation;
}

/** Returns the result of an execution. Plugins could have replaced it with a stream or another value. */
function requireSingleResult(result: unknown): ExecutionResult {
  if (typeof result !== 'object' || result === null || Symbol.asyncIterator in result) {
    throw new TypeError('The execution did not return a single result.');
  }
  return result;
}

/**
 * Plugin of a host. The types of ready-made plugins of Yoga and Envelop don't have the gateway's context, so they don't fit
 * `Plugin<GatewayContext>`; as in Yoga's own options, any object does.
 */
export type HostPlugin = Plugin<GatewayContext> | object;

type OnPluginInit = NonNullable<Plugin<GatewayContext>['onPluginInit']>;

/** Hooks that Yoga runs only when it handles HTTP requests itself, or for subscriptions. */
const UNUSED_HOOKS = [
  'onRequest',
  'onRequestParse',
  'onParams',
  'onExecutionResult',
  'onResultProcess',
  'onResponse',
  'onSubscribe',
];

/** Members of `instrumentation` that never run, for the same reason. */
const UNUSED_INSTRUMENTATION = ['request', 'requestParse', 'operation', 'resultProcess', 'subscribe'];

/**
 * Checks that a plugin has no hook that would never run. Returns the plugin, changed to check the plugins that it adds.
 *
 * @throws {TypeError} if the plugin has such a hook, because the rules in it would silently not apply
 */
export function checkPlugin<Given extends object>(plugin: Given): Given {
  const hook = findUnusedHook(plugin);
  if (hook !== undefined) {
    throw new TypeError(
      `A plugin has the hook ${hook}, which never runs in this gateway. Use onParse, onValidate, onContextBuilding or onExecute, or a server in front of the gateway.`,
    );
  }
  const onPluginInit: unknown = Reflect.get(plugin, 'onPluginInit');
  if (typeof onPluginInit !== 'function') {
    return plugin;
  }
  const checked: Given = Object.create(plugin, {
    onPluginInit: {
      value: (payload: Parameters<OnPluginInit>[0]) =>
        onPluginInit.call(plugin, { ...payload, addPlugin: (added: object) => payload.addPlugin(checkPlugin(added)) }),
    },
  });
  return checked;
}

function findUnusedHook(plugin: object): string | undefined {
  const has = (owner: object, name: string) => Reflect.get(owner, name) !== undefined;
  const instrumentation: unknown = Reflect.get(plugin, 'instrumentation');
  return (
    UNUSED_HOOKS.find((name) => has(plugin, name)) ??
    (typeof instrumentation === 'object' && instrumentation !== null
      ? UNUSED_INSTRUMENTATION.filter((name) => has(instrumentation, name)).map((name) => `instrumentation.${name}`)[0]
      : undefined)
  );
}
