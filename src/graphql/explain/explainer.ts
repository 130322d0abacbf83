import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ExecutionResult, type GraphQLResolveInfo, OperationTypeNode } from 'graphql';
import type { UpstreamClient } from '../../upstream/client.ts';
import type { DeclaredEndpoint } from '../../upstream/endpoint.ts';
import { NotSent, type RecordedCache, type Recorder } from '../../upstream/recorder.ts';
import { readKeyOf, type UpstreamRequest } from '../../upstream/request.ts';
import type { DependentCalls } from '../declarations.ts';
import { FieldCalls } from '../field-calls.ts';
import type { FieldContext } from '../loaders.ts';
import { type Dependent, dependentsOfRoot, nameOf } from './dependents.ts';

/** Plan of an operation's REST calls, in `extensions.explain` of the response. */
export interface Explanation {
  /** REST calls, in the order in which they can start. */
  calls: ExplainedCall[];
  /** Cost against the call budget. Items of bulk writes don't count. `limit` is `maxUpstreamCalls`. */
  budget: Range & { limit: number };
  /** Items of bulk writes, which have a limit of their own. Absent if there are none. */
  bulkItems?: Range & { limit: number };
  /** Scopes that a token needs. */
  scopes: string[];
}

/** Minimum and maximum. */
export interface Range {
  min: number;
  max: number;
}

/** REST call, or several of which data decides the number. */
export interface ExplainedCall extends Range {
  /** Number from 1 that `after` refers to. */
  id: number;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Template of the path, without ids. */
  route: string;
  /** Fields that need it, as `Type.field`. */
  fields: string[];
  /** Ids of the calls whose data must arrive first. Empty if it starts at once. */
  after: number[];
  /** Reason why data decides the number, in one sentence. Absent if `min` and `max` are equal. */
  reason?: string;
  /** Use of the cache. Absent if the response is never cached: it is a write, or the cache is off. */
  cache?: RecordedCache;
  /** Whether operations with the same credential that need it at the same time share one request. True for reads. */
  shared: boolean;
  /** Command that sends it, with `***` in place of the key. Absent if data decides the path, or if another part contains the key. */
  curl?: string;
}

/** Call of the plan, before the cache is looked up. */
interface PlannedCall extends Omit<ExplainedCall, 'method' | 'route' | 'cache' | 'curl' | 'shared'> {
  endpoint: DeclaredEndpoint;
  /** Undefined if data decides its path. */
  request?: UpstreamRequest;
}

/** Root fields that run at the same time, and the calls that were recorded meanwhile. */
interface Step {
  readonly fields: RootField[];
  readonly recorded: { owner: string; request: UpstreamRequest }[];
}

interface RootField {
  readonly info: GraphQLResolveInfo;
  readonly args: Record<string, unknown>;
  /** Recorded calls that it needs. Empty until the operation has been executed. */
  readonly calls: PlannedCall[];
}

const AFTER_LIST_REASON = 'None unless the list contains records without ids.';

const BUDGET_REASON = 'None if earlier calls use up the call budget.';

/** Owner of the calls of the host's plugins. No field has this key. */
const PLUGINS = 'the plugins';

/** Returns the key of a root field in the response, which is unique in the operation. */
const keyOf = ({ path }: GraphQLResolveInfo): string => String(path.key);

const namesOf = (fields: readonly RootField[]): string[] => fields.map(({ info }) => nameOf(info));

const idsOf = (calls: readonly PlannedCall[]): number[] => calls.map(({ id }) => id);

/**
 * Explains one operation. It is really executed, so that arguments, batching and the order of mutations are those of every operation, but calls are
 * recorded instead of sent. Calls that would follow from their data are declared beside the fields.
 */
export class Explainer extends FieldCalls {
  /** Client for the host's plugins, whose calls are recorded. */
  readonly client: UpstreamClient;
  readonly #recorder: Recorder;
  #step: Step = { fields: [], recorded: [] };
  /** One step for a query, and one for each field of a mutation. */
  readonly #steps = [this.#step];
  /** Plan. Empty until the operation has been executed. */
  readonly #calls: PlannedCall[] = [];
  readonly #budget: Explanation['budget'];
  readonly #bulkItems: Explanation['budget'];

  constructor(recorder: Recorder) {
    super();
    this.#recorder = recorder;
    this.#budget = { min: 0, max: 0, limit: recorder.limits.calls };
    this.#bulkItems = { min: 0, max: 0, limit: recorder.limits.bulkItems };
    this.client = this.clientOf(PLUGINS);
  }

  /** Runs the resolver of a root field with a context that records its calls. */
  run<Context extends FieldContext>(
    context: Context,
    info: GraphQLResolveInfo,
    args: Record<string, unknown>,
    resolve: (context: Context) => unknown,
  ): unknown {
    const isMutation = info.operation.operation === OperationTypeNode.MUTATION;
    if (isMutation && this.#step.fields.length > 0) {
      this.#step = { fields: [], recorded: [] };
      this.#steps.push(this.#step);
    }
    this.#step.fields.push({ info, args, calls: [] });
    const fieldContext = { ...context, ...this.contextOf(keyOf(info), context.loaders) };
    return isMutation ? recordWrites(async () => resolve(fieldContext)) : resolve(fieldContext);
  }

  /** Returns the result of an explained operation: without the data of calls, and with the explanation. */
  async explain(result: ExecutionResult, scopes: readonly string[]): Promise<ExecutionResult> {
    await nextTurn(); // A plugin may not wait for its calls.
    this.#plan();
    const explanation: Explanation = {
      calls: await Promise.all(this.#calls.map((call) => this.#complete(call))),
      budget: this.#budget,
      ...(this.#bulkItems.max > 0 && { bulkItems: this.#bulkItems }),
      scopes: [...scopes],
    };
    const called = this.#steps.flatMap(({ fields }) => fields.filter(({ calls }) => calls.length > 0));
    const calledKeys = new Set(called.map(({ info }) => keyOf(info)));
    const { data } = result;
    const values = Object.entries(data ?? {}).map(([key, value]) => [key, calledKeys.has(key) ? null : value]);
    return {
      ...result,
      data: data && Object.fromEntries(values),
      extensions: { ...result.extensions, explain: explanation },
    };
  }

  clientOf(owner: string): UpstreamClient {
    return this.#recorder.client((request) => this.#step.recorded.push({ owner, request }));
  }

  /** Plans the recorded calls of each step, then those that data decides. */
  #plan(): void {
    let previous: number[] = [];
    for (const step of this.#steps) {
      const start = this.#calls.length;
      this.#addRecorded(step, previous);
      const dependents = step.fields.flatMap(({ info, args, calls }) => {
        const areRecords = calls.every(({ endpoint }) => endpoint.expect === 'record');
        const records = areRecords ? calls.length : Number.POSITIVE_INFINITY;
        return calls.length === 0 ? [] : dependentsOfRoot(info, args, { records, after: idsOf(calls) });
      });
      this.#addDependents(dependents, start);
      const ids = idsOf(this.#calls.slice(start));
      previous = ids.length > 0 ? ids : previous;
    }
  }

  /**
   * Plans the recorded calls of a step. Identical reads become one entry.
   *
   * @param after ids of the calls of the step before
   */
  #addRecorded({ fields, recorded }: Step, after: number[]): void {
    const owners = new Map(fields.map((field) => [field, this.ownersOf(keyOf(field.info))]));
    const findFields = (names: readonly string[]) =>
      fields.filter((field) => names.some((name) => owners.get(field)?.has(name)));
    const requests = recorded.map(({ request }) => request);
    const firstOf = (request: UpstreamRequest) => requests.find((other) => isSameRead(request, other)) ?? request;
    for (const [request, same] of Map.groupBy(recorded, (each) => firstOf(each.request))) {
      const { endpoint } = request;
      const callers = same.map(({ owner }) => owner);
      const needing = findFields(callers);
      const number = { min: same.length, max: same.length };
      const added = this.#add({ endpoint, fields: namesOf(needing), after, ...number, request });
      for (const { calls } of needing) {
        calls.push(added);
      }
      // Before the certain calls that were recorded later, because those can wait longer than the list takes.
      for (const { loader, records } of callers.flatMap((owner) => this.listOf(owner) ?? [])) {
        const max = Math.min(records.length, this.#room);
        if (max > 0) {
          const names = namesOf(findFields(records));
          this.#add({ endpoint: loader.get, reason: AFTER_LIST_REASON, fields: names, after: [added.id], min: 0, max });
        }
      }
    }
  }

  /**
   * Plans the calls of dependent fields, then of those in the records that they load.
   *
   * @param start number of calls before this step
   */
  #addDependents(dependents: readonly Dependent[], start: number): void {
    if (dependents.length === 0 || this.#room === 0) {
      return;
    }
    const nested: Dependent[] = [];
    for (const [declared, same] of Map.groupBy(dependents, (dependent) => dependent.declared)) {
      const id = this.#addReads(declared, same, start);
      nested.push(...same.flatMap(({ next }) => next(id)));
    }
    this.#addDependents(nested, start);
  }

  /** Plans the calls of a dependent field: reads of single records, and of a list if one may be needed. Returns the id of the former. */
  #addReads(declared: DependentCalls, same: readonly Dependent[], start: number): number {
    const { loader, reason } = declared;
    const list = loader.many?.argsOf === undefined ? loader.many?.endpoint : undefined; // Others make at most as many calls as single reads.
    const fields = same.map(({ name }) => name);
    const after = same.flatMap((dependent) => dependent.after);
    const records = same.reduce((sum, dependent) => sum + dependent.records, 0);
    const read = { endpoint: loader.get, fields, after, min: 0, max: Math.min(records, this.#room), reason };
    let listCall = list && this.#findRead(list, start);
    const isFirst = listCall === undefined && records === 1 && this.#findRead(loader.get, start) === undefined;
    if (list === undefined || isFirst) {
      return this.#add(read).id;
    }
    listCall ??= this.#add({
      ...read,
      endpoint: list,
      max: 1,
      reason: declared.listReason,
      request: this.#recorder.requestOf(list),
    });
    listCall.fields = [...new Set([...listCall.fields, ...fields])];
    return this.#add({ ...read, after: [...after, listCall.id], reason: declared.reasonAfterList }).id;
  }

  /** Calls that the budget permits besides the certain ones so far. */
  get #room(): number {
    return this.#budget.limit - this.#budget.min;
  }

  #findRead(endpoint: DeclaredEndpoint, start: number): PlannedCall | undefined {
    return this.#calls.slice(start).find((call) => call.endpoint === endpoint);
  }

  /** Adds calls to the plan, and counts them against the budget. */
  #add(call: Omit<PlannedCall, 'id'>): PlannedCall {
    const used = call.request?.args.isBulkItem ? this.#bulkItems : this.#budget;
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

  async #complete({ id, endpoint, request, ...call }: PlannedCall): Promise<ExplainedCall> {
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
async function recordWrites(resolve: () => Promise<unknown>): Promise<unknown> {
  try {
    return await resolve();
  } catch (error) {
    if (error instanceof NotSent) {
      return null;
    }
    throw error;
  } finally {
    await nextTurn(); // Other items of a bulk write are recorded in the same turn.
  }
}

const isSameRead = (one: UpstreamRequest, other: UpstreamRequest): boolean =>
  one.endpoint.method === 'GET' && readKeyOf(one) === readKeyOf(other);
