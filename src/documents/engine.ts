// Prepares operations with Yoga, which parses and validates them, and runs them with the gateway's own executor.

import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute as executeWithGraphqlJs,
  type GraphQLError,
  type GraphQLSchema,
  Kind,
} from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import { refuse } from '../errors/codes.ts';
import { createExecutor, type ExecuteInputs, type ExecuteResult, untilDeadline } from '../executor/execute.ts';
import type { GatewayContext } from '../graphql/context.ts';
import { Deadline } from '../lib/signal.ts';
import type { GatewaySettings } from '../settings/settings.ts';
import { type Operation, type PreparedDocument, PreparedDocuments } from './prepared-documents.ts';
import { limitExceeded, listDeprecated, useDocumentLimits } from './validate.ts';

interface PreparedOperation {
  readonly operation: Operation;
  execute(variables: Readonly<Record<string, unknown>>): ExecuteResult;
}

/**
 * Converts the text of a document to an operation. Throws errors of plugins, an `InvalidDocument`, or a `Refusal` with
 * OPERATION_RESOLUTION_FAILURE or METHOD_NOT_ALLOWED.
 */
export type Prepare = (text: string, context: GatewayContext) => PreparedOperation;

export class InvalidDocument extends Error {
  override readonly name = 'InvalidDocument';
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[]) {
    super(errors[0]?.message);
    this.errors = errors;
  }
}

/**
 * Creates the engine. The pipeline handles HTTP.
 *
 * Yoga validates each document once. Afterwards its hooks, which cost more than execution, are skipped, unless the host has plugins.
 *
 * @param declareDeprecated called with the deprecated elements of a schema before they are used
 * @throws {TypeError} if a plugin has a hook that never runs
 */
export function createEngine(
  schema: GraphQLSchema,
  settings: GatewaySettings,
  declareDeprecated: (coordinates: readonly string[]) => void,
  plugins: readonly HostPlugin[],
) {
  const documents = new PreparedDocuments(schema);
  const executeOperation = createExecuteOperation(settings);
  const executeDocument = createExecuteDocument(documents, executeOperation);
  const yoga = createYoga<object, GatewayContext>({
    schema,
    plugins: [...ownPlugins(documents, executeDocument, settings, declareDeprecated), ...plugins.map(checkPlugin)],
    parserAndValidationCache: documents.parserCaches,
    maskedErrors: false, // createClientErrors masks.
    logging: false,
  });

  function envelop(text: string, context: GatewayContext) {
    const enveloped = yoga.getEnveloped(context);
    const node: DocumentNode = enveloped.parse(text);
    const errors: readonly GraphQLError[] = enveloped.validate(enveloped.schema, node);
    if (errors.length > 0) {
      throw new InvalidDocument(errors);
    }
    const document = documents.of(node, enveloped.schema); // A plugin may have replaced both.
    return { ...enveloped, document };
  }

  /** Prepares an operation that plugins of the host may observe or change. */
  function prepareWithHooks(text: string, context: GatewayContext): PreparedOperation {
    const { document, schema: currentSchema, contextFactory, execute: executeFn } = envelop(text, context);
    const { operationName } = context.params;
    const operation = resolveOperation(document, context);
    return {
      operation,
      execute: (variableValues) =>
        untilDeadline(context.deadline, operation.type === 'mutation', async () => {
          const contextValue = await contextFactory();
          const args = { schema: currentSchema, document: document.node, operationName, contextValue, variableValues };
          return requireSingleResult(await executeFn(args));
        }),
    };
  }

  function prepareOnce(text: string, context: GatewayContext): PreparedOperation {
    let document = documents.findValid(text);
    if (document === undefined) {
      document = envelop(text, context).document;
      document.isValid = true;
    }
    const operation = resolveOperation(document, context);
    return {
      operation,
      execute: (variableValues) => executeOperation(operation, { variableValues, contextValue: context }),
    };
  }

  const prepare: Prepare = plugins.length > 0 ? prepareWithHooks : prepareOnce;
  return {
    prepare,
    /** Lets plugins of the host free what they hold. */
    dispose: () => yoga.dispose(),
  };
}

/** Returns the gateway's own plugins, in the order in which they run. */
const ownPlugins = (
  documents: PreparedDocuments,
  executeDocument: (args: ExecutionArgs) => ExecuteResult,
  settings: GatewaySettings,
  declareDeprecated: (coordinates: readonly string[]) => void,
): HostPlugin[] => [
  { onExecute: ({ setExecuteFn }) => setExecuteFn(executeDocument) },
  useDocumentLimits(settings),
  { onSchemaChange: ({ schema }) => declareDeprecated([...listDeprecated(schema).keys()]) },
  // After the limits, which tell more about a document that breaks both. Once it is parsed, because Yoga applies the same rules later and with other codes.
  {
    onParse:
      () =>
      ({ result, context }) => {
        if (isDocument(result)) {
          resolveOperation(documents.of(result), context);
        }
      },
  },
];

type ExecuteOperation = (operation: Operation, inputs: ExecuteInputs) => ExecuteResult;

/** Creates the function that executes every operation. Rules about an operation with its variables belong here; those about documents are plugins. */
function createExecuteOperation(settings: GatewaySettings): ExecuteOperation {
  const { maxResponseBytes, introspection, maxFields } = settings;
  const executePlans = createExecutor({ maxResponseBytes, hideSuggestions: !introspection });
  return (operation, inputs) => {
    checkRepresentations(operation, inputs.variableValues ?? {}, maxFields);
    const { deadline }: { deadline?: unknown } = Object(inputs.contextValue);
    return executePlans(operation.plans, deadline instanceof Deadline ? { ...inputs, deadline } : inputs);
  };
}

/** Creates the function that executes the operation of a document, which plugins of the host may have replaced like the schema. */
export const createExecuteDocument =
  (documents: PreparedDocuments, executeOperation: ExecuteOperation) =>
  (args: ExecutionArgs): ExecuteResult => {
    const operation = documents.of(args.document, args.schema).operation(args.operationName ?? undefined);
    if (operation === undefined) {
      return executeWithGraphqlJs(args); // It returns the error that explains it.
    }
    return executeOperation(operation, args);
  };

const isDocument = (result: unknown): result is DocumentNode =>
  typeof result === 'object' && result !== null && 'kind' in result && result.kind === Kind.DOCUMENT;

/** Returns the operation to execute. GET must not change anything, because browsers fetch links and images without the user's intent. */
function resolveOperation(document: PreparedDocument, { params, request }: GatewayContext): Operation {
  const operation = document.operation(params.operationName);
  if (operation === undefined) {
    throw refuse(
      'OPERATION_RESOLUTION_FAILURE',
      params.operationName === undefined
        ? 'The document contains no operation, or several. Send "operationName" to choose one.'
        : 'The document contains no operation with the name in "operationName".',
    );
  }
  if (operation.type === 'mutation' && request.method === 'GET') {
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

/** Paths of hooks that Yoga runs only when it handles HTTP requests itself, or for subscriptions. */
const UNUSED_HOOKS = [
  'onRequest',
  'onRequestParse',
  'onParams',
  'onExecutionResult',
  'onResultProcess',
  'onResponse',
  'onSubscribe',
  'instrumentation.request',
  'instrumentation.requestParse',
  'instrumentation.operation',
  'instrumentation.resultProcess',
  'instrumentation.subscribe',
];

/**
 * Checks that a plugin has no hook that would never run. Returns the plugin, changed to check the plugins that it adds.
 *
 * @throws {TypeError} if the plugin has such a hook, because the rules in it would silently not apply
 */
function checkPlugin<Given extends object>(plugin: Given): Given {
  const hook = UNUSED_HOOKS.find((path) => memberAt(path, plugin) !== undefined);
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
      value: (payload: { addPlugin(added: object): void }) =>
        onPluginInit.call(plugin, { ...payload, addPlugin: (added: object) => payload.addPlugin(checkPlugin(added)) }),
    },
  });
  return checked;
}

const memberAt = (path: string, plugin: object): unknown =>
  path.split('.').reduce<unknown>((owner, name) => Reflect.get(Object(owner), name), plugin);

/**
 * Counts each representation of `_entities` as a field. They are in variables, so that the limits of documents don't see them.
 *
 * @throws {GraphQLError} DOCUMENT_LIMIT_EXCEEDED
 */
function checkRepresentations(
  { fields, representations }: Pick<Operation, 'fields' | 'representations'>,
  variables: Readonly<Record<string, unknown>>,
  maxFields: number,
): void {
  const found = representations?.(variables).reduce((sum, { length }) => sum + length, fields) ?? 0;
  if (found > maxFields) {
    throw limitExceeded(`The operation has ${found} fields and representations; at most ${maxFields} are allowed.`);
  }
}
