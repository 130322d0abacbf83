// Plans the REST calls of an operation without sending any.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ExecutionResult, type GraphQLResolveInfo, isNonNullType, OperationTypeNode } from 'graphql';
import { NotSent, readKeyOf, type UpstreamClient, type UpstreamRequest } from '../../upstream/calls.ts';
import type { DeclaredEndpoint } from '../../upstream/endpoint.ts';
import type { Recorder } from '../../upstream/service.ts';
import type { DependentCalls, ExplainedCall, Explanation } from '../declared-calls.ts';
import { type FieldContext, type LoaderEndpoints, listName, readOf, recordName, runWith } from '../loaders.ts';
import { badUserInput } from '../values.ts';
import { type Dependent, dependentsOfRun, keyOf, nameOf, type RecordedCall } from './dependents.ts';
import { FieldCalls } from './field-calls.ts';

/** Call of the plan, before the cache is looked up. */
interface PlannedCall extends Omit<ExplainedCall, 'method' | 'route' | 'cache' | 'curl' | 'shared'> {
  endpoint: DeclaredEndpoint;
  /** Undefined if data decides its path. */
  request?: UpstreamRequest;
  /** Owners of a recorded one, and that of a read of all records of a loader. @default none */
  owners?: readonly string[];
}

/** Fields that run at the same time, and the calls that were recorded meanwhile. */
interface Step {
  readonly fields: RunField[];
  readonly recorded: RecordedCall[];
  /** Records that loaders take from the response of a call for all of them. */
  readonly taken: { records: readonly string[]; call: string; loader: LoaderEndpoints }[];
}

interface RunField {
  /** Place in the response, see `keyOf`. */
  readonly key: string;
  readonly info: GraphQLResolveInfo;
  readonly args: Record<string, unknown>;
  /** Recorded calls that it needs. Empty until the operation has been executed. */
  readonly calls: PlannedCall[];
}

const AFTER_LIST_REASON = 'None unless the list contains records without ids.';

const BUDGET_REASON = 'None if earlier calls use up the call budget.';

/** Owner of the calls of the host's plugins. No field has this key. */
const PLUGINS = 'the plugins';

const namesOf = (fields: readonly RunField[]): string[] => fields.map(({ info }) => nameOf(info));

const idsOf = (calls: readonly PlannedCall[]): number[] => calls.map(({ id }) => id);

/**
 * Explains one operation. It is really executed, so that arguments, batching and the order of mutations are those of every operation, but calls are
 * recorded instead of sent. Calls that would follow from their data are declared beside the fields.
 */
export class Explainer extends FieldCalls {
  /** Client for the host's plugins, whose calls are recorded. */
  readonly client: UpstreamClient;
  readonly #recorder: Recorder;
  #step: Step = { fields: [], recorded: [], taken: [] };
  /** One step for a query, and one for each field of a mutation. */
  readonly #steps = [this.#step];
  /** Plan. Empty until the operation has been executed. */
  readonly #calls: PlannedCall[] = [];
  readonly #skipped: GraphQLResolveInfo[] = [];
  readonly #budget: Explanation['budget'];
  readonly #bulkItems: Explanation['budget'];

  constructor(recorder: Recorder) {
    super();
    this.#recorder = recorder;
    this.#budget = { min: 0, max: 0, limit: recorder.limits.calls };
    this.#bulkItems = { min: 0, max: 0, limit: recorder.limits.bulkItems };
    this.client = this.clientOf(PLUGINS);
  }

  /** Runs the resolver of a field with a client and loaders that record its calls. One that follows calls is null: what it needs is planned. */
  run(info: GraphQLResolveInfo, args: Record<string, unknown>, context: FieldContext, resolve: () => unknown): unknown {
    const step = this.#step;
    const key = keyOf(info);
    const parents = step.fields.filter((field) => key.startsWith(`${field.key}.`));
    if (parents.some((parent) => this.#callsOf(parent, step) !== undefined)) {
      return null;
    }
    const isMutation = parents.length === 0 && info.operation.operation === OperationTypeNode.MUTATION;
    if (isMutation && this.#step.fields.length > 0) {
      this.#step = { fields: [], recorded: [], taken: [] };
      this.#steps.push(this.#step);
    }
    this.#step.fields.push({ key, info, args, calls: [] });
    const start = () => runWith({ context, own: this.contextOf(key, context.loaders) }, resolve);
    return isMutation ? recordWrites(async () => start()) : start();
  }

  /**
   * Leaves out a field of a mutation that a module didn't declare with `mutation`: it can do anything, such as call another service.
   *
   * @throws {GraphQLError} if the field can't be null, because then GraphQL skips those after it too
   */
  skip(info: GraphQLResolveInfo): null {
    this.#skipped.push(info);
    if (isNonNullType(info.returnType)) {
      throw badUserInput(`${nameOf(info)} is not explained. It can't be null, so the fields after it aren't either.`);
    }
    return null;
  }

  /** Returns the result of an explained operation: without the data of calls, and with the explanation. */
  async explain(result: ExecutionResult, scopes: readonly string[]): Promise<ExecutionResult> {
    await nextTurn(); // A plugin may not wait for its calls.
    this.#plan(result.data ?? {});
    const explanation: Explanation = {
      calls: await Promise.all(this.#calls.map((call) => this.#complete(call))),
      budget: this.#budget,
      ...(this.#bulkItems.max > 0 && { bulkItems: this.#bulkItems }),
      ...(this.#skipped.length > 0 && { notExplained: [...new Set(this.#skipped.map(nameOf))] }),
      scopes: [...scopes],
    };
    const called = this.#steps.flatMap(({ fields }) => fields.filter(({ calls }) => calls.length > 0));
    const nulls = Object.fromEntries(called.map(({ key }) => [key.replace(/\..*/, ''), null]));
    const { data } = result;
    return {
      ...result,
      ...(data && { data: { ...data, ...nulls } }),
      extensions: { ...result.extensions, explain: explanation },
    };
  }

  override taken(keys: readonly string[], call: string, loader: LoaderEndpoints): void {
    super.taken(keys, call, loader);
    if (call === listName(loader)) {
      this.#step.taken.push({ records: keys.map((key) => recordName(loader, key)), call, loader });
    }
  }

  clientOf(owner: string): UpstreamClient {
    return this.#recorder.client((request) => this.#step.recorded.push({ owner, request }));
  }

  /** Plans the recorded calls of each step, then those that data decides. */
  #plan(data: Readonly<Record<string, unknown>>): void {
    let previous: number[] = [];
    for (const step of this.#steps) {
      const start = this.#calls.length;
      this.#addRecorded(step, previous);
      const dependents = step.fields.flatMap((field) => {
        const { key, info, args, calls } = field;
        const recorded = this.#callsOf(field, step);
        const value = data[key];
        const hasFailed = recorded?.length === 0 && value == null;
        const isReal = recorded === undefined; // So those of its selection were run too.
        return isReal || hasFailed ? [] : dependentsOfRun(info, args, { recorded, after: idsOf(calls), value });
      });
      this.#addDependents(dependents, start);
      const ids = idsOf(this.#calls.slice(start));
      previous = ids.length > 0 ? ids : previous;
    }
  }

  /** Returns the recorded calls that a field needs; undefined if it needs none, so that its value is the real one. */
  #callsOf({ key }: RunField, { recorded }: Step): RecordedCall[] | undefined {
    const owners = this.ownersOf(key);
    const calls = recorded.filter(({ owner }) => owners.has(owner));
    return owners.size > 1 || calls.length > 0 ? calls : undefined; // Loaders call later.
  }

  /**
   * Plans the recorded calls of a step. Identical reads become one entry.
   *
   * @param after ids of the calls of the step before
   */
  #addRecorded({ fields, recorded, taken }: Step, after: number[]): void {
    const findFields = (names: readonly string[]) =>
      fields.filter(({ key }) => names.some((name) => this.ownersOf(key).has(name)));
    const firstOf = ({ request }: RecordedCall) =>
      recorded.find((other) => isSameRead(request, other.request))?.request ?? request;
    for (const [request, same] of Map.groupBy(recorded, firstOf)) {
      const { endpoint } = request;
      const owners = same.map(({ owner }) => owner);
      const needing = findFields(owners);
      const number = { min: same.length, max: same.length };
      const added = this.#add({ endpoint, fields: namesOf(needing), after, ...number, request, owners });
      for (const { calls } of needing) {
        calls.push(added);
      }
      // Before the certain calls that were recorded later, because those can wait longer than the list takes.
      const lists = taken.filter(({ call }) => owners.includes(call));
      for (const [get, parts] of Map.groupBy(lists, ({ loader }) => readOf(loader))) {
        const records = parts.flatMap((part) => part.records);
        const max = Math.min(records.length, this.#roomFor(get));
        if (max > 0) {
          const names = namesOf(findFields(records));
          this.#add({ endpoint: get, reason: AFTER_LIST_REASON, fields: names, after: [added.id], min: 0, max });
        }
      }
    }
  }

  /**
   * Plans the calls of dependent fields, then of those in what they return.
   *
   * @param start number of calls before this step
   */
  #addDependents(dependents: readonly Dependent[], start: number): void {
    const nested: Dependent[] = [];
    for (const same of Map.groupBy(dependents, ({ name }) => name).values()) {
      const needs = Map.groupBy(
        same.flatMap((dependent) => dependent.needs),
        ({ calls }) => calls,
      );
      const ids = [...needs].flatMap(([calls, parts]) => {
        const number = parts.reduce((sum, { max }) => sum + max, 0);
        return this.#roomFor(calls.endpoint) > 0 ? this.#addCalls(calls, number, same, start) : [];
      });
      nested.push(...(ids.length > 0 ? same.flatMap(({ next }) => next(ids)) : []));
    }
    if (nested.length > 0) {
      this.#addDependents(nested, start);
    }
  }

  /** Plans calls of dependent fields: to an endpoint, or reads of single records, and of several if they may be needed. Returns the ids of those that return data. */
  #addCalls(calls: DependentCalls, number: number, same: readonly Dependent[], start: number): number[] {
    const { endpoint } = calls;
    const { loader, reason } = calls.options;
    const many = loader?.many;
    const owners = loader && many?.argsOf === undefined ? [listName(loader)] : undefined; // Undefined if it doesn't read all records.
    const fields = same.map(({ name }) => name);
    const after = same.flatMap((dependent) => dependent.after);
    const call = { endpoint, fields, after, min: 0, max: Math.min(number, this.#roomFor(endpoint)), reason };
    let listCall = many && owners && this.#findRead(many.endpoint, start, owners);
    const isFirst = listCall === undefined && number === 1 && this.#findRead(endpoint, start) === undefined;
    if (many === undefined || isFirst || endpoint === many.endpoint) {
      return [this.#add(call).id];
    }
    listCall ??= this.#add({
      ...call,
      endpoint: many.endpoint,
      ...(owners && { max: 1, request: this.#recorder.requestOf(many.endpoint), owners }),
    });
    listCall.fields = [...new Set([...listCall.fields, ...fields])];
    return owners ? [this.#add({ ...call, after: [...after, listCall.id] }).id] : [listCall.id, this.#add(call).id];
  }

  /** Returns a planned call to an endpoint. @param owners one of which makes it. @default any */
  #findRead(endpoint: DeclaredEndpoint, start: number, owners?: readonly string[]): PlannedCall | undefined {
    const isOwn = (call: PlannedCall) => owners?.some((owner) => call.owners?.includes(owner)) ?? true;
    return this.#calls.slice(start).find((call) => call.endpoint === endpoint && isOwn(call));
  }

  /** Returns the budget of calls to an endpoint. Those that follow the item of a bulk write are items too. */
  #budgetOf(endpoint: DeclaredEndpoint, request = this.#calls.findLast((call) => call.endpoint === endpoint)?.request) {
    return request?.args.isBulkItem ? this.#bulkItems : this.#budget;
  }

  /** Returns the number of calls to an endpoint that the budget permits besides the certain ones so far. */
  #roomFor(endpoint: DeclaredEndpoint): number {
    const { limit, min } = this.#budgetOf(endpoint);
    return limit - min;
  }

  /** Adds calls to the plan, and counts them against the budget. */
  #add(call: Omit<PlannedCall, 'id'>): PlannedCall {
    const used = this.#budgetOf(call.endpoint, call.request);
    const mayBeRefused = call.min > 0 && used.max + call.max > used.limit;
    used.min += call.min;
    used.max = Math.min(used.max + call.max, used.limit);
    const planned: PlannedCall = {
      id: this.#calls.length + 1,
      ...call,
      fields: [...new Set(call.fields)],
      after: [...new Set(call.after)].sort((a, b) => a - b),
      ...(mayBeRefused && { min: 0, reason: BUDGET_REASON }),
    };
    this.#calls.push(planned);
    return planned;
  }

  async #complete({ id, endpoint, request, owners: _, ...call }: PlannedCall): Promise<ExplainedCall> {
    const cache = await this.#recorder.cacheOf(endpoint, request);
    const curl = request && this.#recorder.curlOf(request);
    return {
      id,
      method: endpoint.method,
      route: endpoint.route,
      ...call,
      ...(cache !== undefined && { cache }),
      shared: endpoint.method === 'GET',
      ...(curl !== undefined && { curl }),
    };
  }
}

/** Runs the resolver of a mutation's field. Its result is null if a write was recorded, so that plugins see no error either. */
const recordWrites = (resolve: () => Promise<unknown>): Promise<unknown> =>
  resolve()
    .catch((error) => (error instanceof NotSent ? null : Promise.reject(error)))
    .finally(() => nextTurn()); // Other items of a bulk write are recorded in the same turn.

const isSameRead = (one: UpstreamRequest, other: UpstreamRequest): boolean =>
  one.endpoint.method === 'GET' && readKeyOf(one) === readKeyOf(other);
