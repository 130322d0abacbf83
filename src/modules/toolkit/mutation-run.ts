// Applies one input of a mutation: checks it, sends its writes, and returns failures as data.

import { createHash } from 'node:crypto';
import type { GraphQLResolveInfo } from 'graphql';
import type { GatewayContext } from '../../graphql/context.ts';
import { ownWrites, runWith } from '../../graphql/loaders.ts';
import { badUserInput } from '../../graphql/values.ts';
import { ignoreRejection } from '../../lib/promises.ts';
import { FieldWrites } from '../../upstream/calls.ts';
import type { CallArgs, WriteEndpoint } from '../../upstream/endpoint.ts';
import { type InputIssue, invalidInput, isUpstreamError } from '../../upstream/errors.ts';
import { findInputIssues } from './arguments.ts';
import { type Failure, toFailure } from './mutation-failures.ts';
import { subjectOf } from './subject.ts';

/** Sends a write of a mutation, and returns the response. Adds an idempotency key of its own if the endpoint accepts it, and the caller sent one. */
export type Send<Args, Body> = (args: Args) => Promise<Body>;

export type Input = Readonly<Record<string, unknown>>;

/** Record that the service may not have. */
export interface NotFound<Input> {
  /** Type of the record, such as `Feed`. */
  resource: string;
  id: (input: Input) => string;
  /** Whether the service may report it with 400 and a message. @default false */
  byMessage?: boolean;
  /** Whether failures don't say that the subscriber is missing instead, which services can know only if the record exists. @default false */
  hidesOwner?: boolean;
}

/** Mutation, as far as its runs depend on it. */
export interface RunnableMutation {
  /** Such as `CreateFeed`, from which the names of its types are derived. */
  readonly typeName: string;
  readonly endpoint: WriteEndpoint<CallArgs, unknown>;
  /** Whether its input has other fields than `idempotencyKey`. */
  readonly hasFields: boolean;
  /** Field of the input with the id of the person whose records are changed. */
  readonly subject: string | undefined;
  readonly notFound: NotFound<Input> | undefined;
  readonly canConflict: boolean;
  /** Returns the path in the input of a path that the service knows. */
  readonly toInputPath: (path: readonly string[], input: Input) => readonly string[];
  readonly resolve: (input: Input, send: Send<CallArgs, unknown>, ctx: GatewayContext) => object | Promise<object>;
  /** Returns the kinds of failures within the success. */
  readonly failuresOf: ((success: object) => readonly string[]) | undefined;
}

export interface BulkItem {
  readonly index: number;
  readonly path: readonly string[];
  /** Problems that other items show. */
  readonly issues: readonly InputIssue[];
}

/** Success or failure. The paths are absent from failures. */
export type Result = { readonly __typename: string; readonly replayed: boolean } & {
  readonly [Paths in 'uncleared' | 'unapplied']?: readonly string[];
};

type MutationField = Pick<GraphQLResolveInfo, 'fieldName' | 'path' | 'schema'>;

const MAX_ISSUES = 20;

/** One run of a mutation: for the input of its field, or for an item of a bulk mutation. */
export class MutationRun {
  readonly #mutation: RunnableMutation;
  readonly #ctx: GatewayContext;
  readonly #field: MutationField;
  readonly #item: BulkItem | undefined;
  readonly #input: Input;
  readonly #deriveKey: ((call: string) => string) | undefined;
  readonly #writes: FieldWrites;
  #sends = 0;
  #areReplayed = true;
  readonly #uncleared: string[] = [];
  readonly #unapplied: string[] = [];

  /** @throws {GraphQLError} if the key or the subject is not accepted. Then no item of a bulk mutation is applied */
  constructor(mutation: RunnableMutation, fields: Input, ctx: GatewayContext, field: MutationField, item?: BulkItem) {
    const { endpoint, subject } = mutation;
    const { idempotencyKey, ...given } = fields;
    this.#mutation = mutation;
    this.#ctx = ctx;
    this.#field = field;
    this.#item = item;
    this.#input = subject ? { ...given, [subject]: subjectOf(ctx, given[subject], subject, endpoint) } : given;
    this.#deriveKey = endpoint.idempotent ? deriveIdempotencyKey(ctx, field, idempotencyKey, item?.index) : undefined;
    const { ofField } = ctx.writes;
    this.#writes = item === undefined && ofField !== undefined ? ofField : new FieldWrites(ofField);
  }

  async apply(): Promise<Result> {
    try {
      this.#assertInput();
      const source = await this.#resolve();
      if (this.#sends === 0 && this.#writes.applied === 0) {
        await this.#ctx.tryKey(); // No call has shown that the service accepts the caller.
      }
      return this.#toSuccess(source);
    } catch (error) {
      return this.#toFailure(error);
    }
  }

  #assertInput(): void {
    const { endpoint, typeName } = this.#mutation;
    const type = this.#field.schema.getType(`${typeName}Input`);
    const issues = [...findInputIssues(this.#input, type), ...(this.#item?.issues ?? [])];
    if (issues.length > 0) {
      throw invalidInput(endpoint, issues.slice(0, MAX_ISSUES));
    }
  }

  /** Runs the function of the mutation. Other writes of it than those of `send` count for the item too. */
  #resolve(): object | Promise<object> {
    const { resolve } = this.#mutation;
    const context = this.#ctx;
    const { upstream } = context; // That of the field, also for what the function doesn't wait for.
    const send = (args: CallArgs) => this.#send(upstream, args);
    return this.#item === undefined
      ? resolve(this.#input, send, context)
      : runWith({ context, own: ownWrites(context, this.#writes) }, resolve, this.#input, send, context);
  }

  #send(upstream: GatewayContext['upstream'], args: CallArgs): Promise<unknown> {
    this.#sends += 1;
    const isBulkItem = this.#item !== undefined;
    const write = { ...args, idempotencyKey: undefined, deriveKey: this.#deriveKey, isBulkItem };
    const sent = upstream.write(this.#mutation.endpoint, write, this.#writes).then((result) => {
      this.#areReplayed &&= result.replayed;
      this.#addPaths(this.#uncleared, result.uncleared);
      this.#addPaths(this.#unapplied, result.unapplied);
      return result.body;
    });
    return ignoreRejection(sent);
  }

  #toSuccess(source: object): Result {
    const { typeName, failuresOf } = this.#mutation;
    const result = {
      uncleared: this.#uncleared,
      unapplied: this.#unapplied,
      ...source,
      __typename: `${typeName}Success`,
      replayed: this.#sends > 0 && this.#areReplayed,
    };
    this.#note(failuresOf?.(source));
    this.#note(this.#uncleared.length > 0 ? ['NOT_CLEARED'] : undefined);
    this.#note(result.unapplied.length > 0 ? ['UNAPPLIED'] : undefined);
    return result;
  }

  /** Returns the failure that is the result. @throws the error if it is reported in `errors` */
  #toFailure(error: unknown): Failure {
    const { notFound, subject, canConflict, toInputPath, hasFields } = this.#mutation;
    const failure =
      isUpstreamError(error) &&
      toFailure(error, {
        notFound: notFound && { ...notFound, id: notFound.id(this.#input) },
        subject: subject && String(this.#input[subject]),
        canConflict,
        toInputPath: (member) => (!hasFields ? [] : this.#sends === 0 ? member : toInputPath(member, this.#input)),
        path: this.#path,
        isBulkItem: this.#item !== undefined,
        hasWritten: this.#writes.applied > 0,
      });
    if (!failure) {
      throw error;
    }
    this.#note([failure.code]);
    return failure;
  }

  /** Notes kinds of failures that the result has, for log and metrics. */
  #note(kinds: readonly string[] | undefined): void {
    this.#ctx.usage.addResults(this.#field.fieldName, kinds);
  }

  /** Path of the input in the arguments; empty if there is none. */
  get #path(): readonly string[] {
    const { hasFields, endpoint } = this.#mutation;
    return this.#item?.path ?? (hasFields || endpoint.idempotent ? ['input'] : []);
  }

  /** Adds the paths in the arguments of members of the body. */
  #addPaths(paths: string[], members: readonly string[] | undefined): void {
    if (members !== undefined) {
      const toPath = (member: string) =>
        [...this.#path, ...this.#mutation.toInputPath([member], this.#input)].join('.');
      paths.push(...members.map(toPath));
    }
  }
}

/**
 * Returns the function that derives the idempotency key that is sent upstream for each write: a digest of field name, response path, the caller, its key,
 * the position in a bulk mutation, the number of the write, and the method and path of the call. This lets one header serve several root fields and
 * records. Services store keys without the environment, the endpoint and the ids in its path, so the caller's key itself would replay the response of
 * another environment, endpoint or record. Browser users share a tenant's API key, and must not get each other's responses.
 *
 * @param inputKey the key of the input, which takes precedence over the request header
 * @param item the position in a bulk mutation
 * @returns undefined if the caller sent no key
 * @throws {GraphQLError} BAD_USER_INPUT if the caller's key is empty
 */
function deriveIdempotencyKey(
  { identity: { clientKind, callerId }, idempotencyKey, idempotencyKeys }: GatewayContext,
  { fieldName, path }: MutationField,
  inputKey: unknown,
  item: number | undefined,
) {
  const key = typeof inputKey === 'string' ? inputKey : idempotencyKey;
  if (key === undefined) {
    return undefined;
  }
  if (key.trim() === '') {
    throw badUserInput('idempotencyKey must not be empty. Omit it, or send a value that is unique per change.');
  }
  let write = 0;
  return (call: string): string => {
    write += 1;
    const parts =
      idempotencyKeys === 'previous'
        ? [
            fieldName,
            path.key,
            key,
            ...(item === undefined ? [] : [item]),
            ...(clientKind === 'browser' ? [callerId] : []),
            ...(write === 1 ? [] : [{ write }]),
          ]
        : [fieldName, path.key, callerId, key, item, write, call];
    return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  };
}
