// Declares mutations with their types: a union of a success and failures as the result.

import type { InputFieldMap, InputShapeFromFields, ObjectFieldsShape } from '@pothos/core';
import type { GatewayContext } from '../../graphql/context.ts';
import { DependentCalls, dependentCallsOf } from '../../graphql/declared-calls.ts';
import { requireScopes } from '../../graphql/scopes.ts';
import { isRecord } from '../../lib/is-record.ts';
import { createBoundedMap } from '../../lib/promises.ts';
import type { Scope } from '../../settings/scopes.ts';
import type { CallArgs, DeclaredEndpoint, WriteEndpoint } from '../../upstream/endpoint.ts';
import { assertRange } from './arguments.ts';
import type { Builder, GraphTypes } from './builder.ts';
import type { MutationErrors } from './mutation-errors.ts';
import {
  type Input,
  MutationRun,
  type NotFound,
  type Result,
  type RunnableMutation,
  type Send,
} from './mutation-run.ts';
import { SUBJECT } from './subject.ts';

/** Declaration of a mutation that sends a write or several, and whose result is a union of a success and failures. */
export interface MutationOptions<
  Args extends CallArgs,
  Body,
  Fields extends InputFieldMap,
  Success extends object,
  Subject extends string,
> {
  /** Description. The REST call is added to it, unless it names one. */
  description: string;
  scope: Scope;
  /** Endpoint that is called. If it is idempotent, the input has `idempotencyKey`, and the success `replayed`. */
  endpoint: WriteEndpoint<Args, Body>;
  /** Other extensions of the field than `scope`, such as `ADDS_ONLY` or those of `declareCalls`. @default none */
  extensions?: Readonly<Record<string, unknown>> & { readonly scope?: never };
  /** Reason why the field is deprecated. @default it isn't */
  deprecationReason?: string;
  /** The only argument, `input`. @default none; if the endpoint is idempotent, an optional one with only `idempotencyKey` */
  input?: {
    description: string;
    /** Description of the argument. @default description */
    argument?: string;
    fields: (t: PothosSchemaTypes.InputFieldBuilder<GraphTypes, 'InputObject'>) => Fields;
  };
  /**
   * Adds an optional input field with this name: the id of the person whose records are changed. A token reaches only its subject, and is FORBIDDEN otherwise
   * before anything is sent. `resolve` always gets the id. @default the mutation is for everybody with the scope
   */
  subject?: Subject;
  /** Failures that are members of the result, besides `InvalidInputError`. */
  failures?: {
    /** The record that the service may not have: `NotFoundError`. @default no member of the result */
    notFound?: NotFound<NoInfer<ResolvedInput<Fields, Subject>>>;
    /** Whether it can conflict with other records: `ConflictError`. Always so if the endpoint is idempotent. @default false */
    conflict?: boolean;
  };
  /**
   * The names in the input of parameters, headers and members of the body that have another name there, as in `{ topicKey: 'key' }`. Or if the body has
   * another form, a function that returns the path in the input of a member that the service rejected.
   *
   * @default the same names
   */
  inputPath?:
    | Readonly<Record<string, string>>
    | ((path: readonly string[], input: NoInfer<ResolvedInput<Fields, Subject>>) => readonly string[]);
  /** Sends the write or several, and returns the source of the success. */
  resolve: (
    input: ResolvedInput<Fields, Subject>,
    send: Send<Args, Body>,
    ctx: GatewayContext,
  ) => Success | Promise<Success>;
  success: {
    description: string;
    fields: ObjectFieldsShape<GraphTypes, Success>;
    /**
     * Returns the kinds of failures within the success, for log and metrics, such as the statuses of events that started no workflow. Use few kinds, and
     * no data. @default none
     */
    failures?: (success: NoInfer<Success>) => readonly string[];
  };
}

/** Input as resolvers get it, in which the subject is known. */
export type ResolvedInput<Fields extends InputFieldMap, Subject extends string> = InputShapeFromFields<Fields> & {
  readonly [Name in Subject]: string;
};

/** Declaration of a mutation that applies another one to each item of a list. */
export interface BulkMutationOptions {
  /** Description. The REST call is added to it, unless it names one. */
  description: string;
  /** Number of calls, for the documentation. @default '1 per item, 10 at a time' */
  calls?: string;
  /** Name of the list in the input, such as `subscribers`. */
  items: string;
  max: number;
  /** Field of the input that names the record, such as `subscriberId`: of several items with the same one, only the first is sent. @default none */
  uniqueBy?: string;
  input: { description: string; argument?: string; items: string };
  /** Descriptions of the types and fields of the result. */
  result: { item: string; results: string; succeeded: string; failed: string };
}

export interface DeclaredMutation {
  readonly endpoint: DeclaredEndpoint;
  readonly scope: Scope;
  readonly extensions: Readonly<Record<string, unknown>>;
  /** Undefined if it has no input. */
  readonly Input: PothosSchemaTypes.InputObjectRef<GraphTypes, Input> | undefined;
  readonly Success: PothosSchemaTypes.ObjectRef<GraphTypes, object>;
  readonly failureTypes: readonly PothosSchemaTypes.ObjectRef<GraphTypes, object>[];
  readonly runnable: RunnableMutation;
}

/** Extension of a mutation's field that changes or deletes nothing that exists, for AI agents: `extensions: ADDS_ONLY`. */
export const ADDS_ONLY = { addsOnly: true } as const;

/** Maximum concurrent calls of one bulk mutation, equal to the limit per credential. */
const BULK_CONCURRENCY = 10;

export interface Mutations {
  /**
   * Declares a mutation with its types, whose names are derived from its own: `CreateFeedInput`, `CreateFeedSuccess` and `CreateFeedResult` for
   * `createFeed`.
   */
  mutation<
    Args extends CallArgs,
    Body,
    Success extends object,
    Fields extends InputFieldMap = Record<never, never>,
    Subject extends string = never,
  >(name: string, options: MutationOptions<Args, Body, Fields, Success, Subject>): DeclaredMutation;
  /**
   * Declares a mutation that applies another one to each item of a list. Each has its own result, so one failure doesn't affect the others.
   *
   * @throws {TypeError} if the other one has no input
   */
  bulkMutation(name: string, single: DeclaredMutation, options: BulkMutationOptions): void;
}

type AnyMutation = Omit<MutationOptions<CallArgs, unknown, InputFieldMap, object, never>, 'subject'> & {
  subject?: string;
};

/** Creates the functions that declare the mutations of one schema. */
export function createMutations(builder: Builder, errors: MutationErrors): Mutations {
  const { ConflictError, InvalidInputError, NotFoundError, UpstreamFailure } = errors;

  function declareMutation(name: string, options: AnyMutation): DeclaredMutation {
    const { endpoint, scope, subject, failures = {}, success } = options;
    const extensions = { ...options.extensions, isExplained: true }; // Its first write ends its resolver, so explanations can run it.
    const input: AnyMutation['input'] =
      options.input ??
      (subject || endpoint.idempotent ? { description: subject ? SUBJECT : KEY_INPUT, fields: () => ({}) } : undefined);
    const { notFound, conflict = endpoint.idempotent } = failures;
    const typeName = toTypeName(name);
    const inputName = `input of the mutation ${name}`;
    if (Object.is(endpoint.method, 'GET')) {
      throw new TypeError(`the mutation ${name} sends GET ${endpoint.route}, which is a read`); // From JavaScript.
    }

    const Input =
      input &&
      builder.inputType(`${typeName}Input`, {
        description: input.description,
        fields: (t) =>
          withPaths(inputName, options.inputPath, {
            ...(subject && { [subject]: t.id({ description: SUBJECT }) }),
            ...withoutOwn('idempotencyKey', withoutOwn(subject ?? '', input.fields(t), inputName), inputName),
            ...(endpoint.idempotent && { idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }) }),
          }),
      });
    const Success = builder.objectRef<Result>(`${typeName}Success`).implement({
      description: success.description,
      fields: (t) => ({
        ...withoutOwn('replayed', success.fields(t), `success of the mutation ${name}`),
        ...(endpoint.idempotent && { replayed: t.exposeBoolean('replayed', { description: REPLAYED }) }),
        ...(endpoint.confirms.length > 0 && {
          unapplied: t.stringList({ description: UNAPPLIED, resolve: unappliedOf }),
        }),
        ...(endpoint.clears && { uncleared: t.stringList({ description: UNCLEARED, resolve: unclearedOf }) }),
      }),
    });
    const failureTypes = [
      ...(notFound === undefined ? [] : [NotFoundError]),
      InvalidInputError,
      ...(conflict ? [ConflictError] : []),
    ];
    const Result = builder.unionType(`${typeName}Result`, {
      description: `The result of \`${name}\`.`,
      types: [Success, ...failureTypes],
    });
    const required = options.input !== undefined;
    const { inputPath } = options;
    const runnable: RunnableMutation = {
      typeName,
      endpoint,
      hasFields: options.input !== undefined || subject !== undefined,
      subject,
      notFound,
      canConflict: conflict,
      toInputPath: typeof inputPath === 'function' ? inputPath : renameFirst(inputPath),
      resolve: options.resolve,
      failuresOf: success.failures,
    };
    builder.mutationField(name, (t) =>
      t.field({
        type: Result,
        nullable: true,
        extensions: { calls: '1', ...extensions, ...requireScopes(scope) },
        description: describeCall(options.description, endpoint),
        ...(options.deprecationReason !== undefined && { deprecationReason: options.deprecationReason }),
        args: Input
          ? { input: t.arg({ type: Input, required, description: input?.argument ?? input?.description }) }
          : {},
        resolve: (_root, args: { input?: Input | null | undefined }, ctx, info) =>
          new MutationRun(runnable, args.input ?? {}, ctx, info).apply(),
      }),
    );
    return { endpoint, scope, extensions, Input, Success, failureTypes, runnable };
  }

  return {
    mutation: (name, options) => declareMutation(name, options as unknown as AnyMutation), // `MutationOptions` ensures that its parts fit together.
    bulkMutation(name, single, options) {
      const { items, max, uniqueBy = '', input, result, calls = `1 per item, ${BULK_CONCURRENCY} at a time` } = options;
      const typeName = toTypeName(name);
      const { Input: Each } = single;
      if (Each === undefined) {
        throw new TypeError(`${name} applies a mutation to each item of a list, so that mutation needs an input`);
      }

      const Input = builder.inputType(`${typeName}Input`, {
        description: input.description,
        fields: (t) => ({ [items]: t.field({ type: [Each], required: true, description: input.items }) }),
      });
      const Item = builder.unionType(`${typeName}Item`, {
        description: result.item,
        types: [single.Success, ...single.failureTypes, UpstreamFailure],
      });
      const countFailures = (results: readonly Result[]) =>
        results.filter(({ __typename }) => __typename !== single.Success.name).length;
      const Payload = builder.objectRef<{ results: Result[] }>(`${typeName}Payload`).implement({
        description: `The result of \`${name}\`.`,
        fields: (t) => ({
          results: t.field({ type: [Item], description: result.results, resolve: ({ results }) => results }),
          succeeded: t.int({
            description: result.succeeded,
            resolve: ({ results }) => results.length - countFailures(results),
          }),
          failed: t.int({ description: result.failed, resolve: ({ results }) => countFailures(results) }),
        }),
      });
      builder.mutationField(name, (t) =>
        t.field({
          type: Payload,
          nullable: true,
          extensions: {
            ...single.extensions,
            ...requireScopes(single.scope),
            calls,
            ...declareItemCalls(single, items),
          },
          description: describeCall(options.description, single.endpoint),
          args: { input: t.arg({ type: Input, required: true, description: input.argument ?? input.description }) },
          resolve: async (_root, args, ctx, info) => {
            const inputs = args.input[items] ?? [];
            assertRange(`the number of ${items}`, inputs.length, 1, max);
            // Before the first is sent: an invalid key rejects all.
            const runs = inputs.map((each, index) => {
              const first = inputs.findIndex((other) => other[uniqueBy] === each[uniqueBy]);
              const message = `${uniqueBy} is that of ${items}[${first}] too. Each must be in one item.`;
              const issues = each[uniqueBy] == null || first === index ? [] : [{ path: [uniqueBy], message }];
              const item = { index, path: ['input', items, String(index)], issues };
              return new MutationRun(single.runnable, each, ctx, info, item);
            });
            const applyAll = createBoundedMap<MutationRun, Result>(BULK_CONCURRENCY);
            return { results: await applyAll(runs, (run, end, fail) => void run.apply().then(end, fail)) };
          },
        }),
      );
    },
  };
}

/** Declares the calls of all items of a bulk mutation: those that the single one declares, and one write per item, which explanations find. */
function declareItemCalls({ endpoint, extensions }: DeclaredMutation, items: string) {
  const argsOf = ({ input }: { input?: unknown }) =>
    [isRecord(input) ? input[items] : []].flat().map((item) => ({ input: item }));
  return {
    dependentCalls: dependentCallsOf(extensions).map(({ options }) => new DependentCalls(options, argsOf)),
    writes: new DependentCalls({ endpoint, reason: 'One per item.' }, argsOf),
  };
}

/** Creates the function that replaces the first name of a path, if it has another one. */
function renameFirst(names: Readonly<Record<string, string>> = {}) {
  const renamed = new Map(Object.entries(names));
  return ([first, ...rest]: readonly string[]): readonly string[] =>
    first === undefined ? [] : [renamed.get(first) ?? first, ...rest];
}

/** Returns the fields of an input. @throws {TypeError} if one is missing that `inputPath` names */
function withPaths<Fields extends object>(owner: string, inputPath: AnyMutation['inputPath'], fields: Fields): Fields {
  const names = typeof inputPath === 'object' ? Object.values(inputPath) : [];
  const missing = names.find((name) => !Object.hasOwn(fields, name));
  if (missing !== undefined) {
    throw new TypeError(`the ${owner} has no field ${missing}, which its inputPath names`);
  }
  return fields;
}

/** Returns fields of a module. @throws {TypeError} if one has the name of a field that the gateway adds */
function withoutOwn<Fields extends object>(name: string, fields: Fields, owner: string): Fields {
  if (name in fields) {
    throw new TypeError(`the ${owner} has a field ${name}, which the gateway uses itself; rename it`);
  }
  return fields;
}

const unappliedOf = ({ unapplied = [] }: Result): readonly string[] => unapplied;

const unclearedOf = ({ uncleared = [] }: Result): readonly string[] => uncleared;

const toTypeName = (name: string): string => name.slice(0, 1).toUpperCase() + name.slice(1);

/** Adds the REST call to the description of a field, unless it names one. */
const describeCall = (description: string, { method, route }: DeclaredEndpoint): string =>
  description.includes('REST: ') ? description : `${description}\n\nREST: \`${method} ${route}\`.`;

/** Description of an input with only `idempotencyKey`. */
const KEY_INPUT = 'The key with which the change can be repeated.';

const IDEMPOTENCY_KEY =
  'A key that is unique per change, such as a UUID. If you repeat the change with the same key, a service that supports keys applies it only once. Default: the `Idempotency-Key` header.';

const REPLAYED =
  'Whether this is the stored result of an earlier request with the same idempotency key. Nothing was changed again.';

/** Description of the field `unapplied` of a success. */
export const UNAPPLIED =
  'The paths of what you sent, but for which the service has another value, such as `input.enabled`. Versions of the service ignore some members.';

const UNCLEARED =
  'The paths of what null or an empty list was to clear, but which still has a value, such as `input.phone`. Versions of the service before 31 October 2025 ignore most nulls.';
