import type { Recorder } from '../../upstream/recorder.ts';
import type { UpstreamRequest } from '../../upstream/request.ts';
import { GROUP_LOAD_REASONS, type GroupLoadBounds } from '../loaders/group-load-bounds.ts';
import { WORKFLOW_CONCURRENCY } from '../loaders/workflow-loader.ts';
import type { CallPlan } from './call-plan.ts';
import type { FieldRun } from './field-run.ts';
import { OpenLoads } from './open-loads.ts';

const WORKFLOW = '/v1/workflows/{workflowIdOrIdentifier}';
const GROUP = '/v1/notification-groups/{id}';
const GROUPS = '/v1/notification-groups';

/** Root fields that run at the same time: all of a query, or one of a mutation. Plans their calls. */
export class Phase {
  readonly #runs: FieldRun[] = [];
  /** Ids of the calls that each root field needs. */
  readonly #callsOfRun = new Map<FieldRun, Set<number>>();
  /** Ids of the calls of loaders. */
  readonly #workflowCalls = new Map<string, number>();
  readonly #groupCalls = new Map<string, number>();
  #listCall: number | undefined;

  /** Response keys of the fields that need calls. */
  get calledKeys(): (string | number)[] {
    return [...this.#callsOfRun.keys()].map(({ info }) => info.path.key);
  }

  add(run: FieldRun): void {
    this.#runs.push(run);
  }

  /**
   * Plans a recorded call.
   *
   * @param run root field that makes it; undefined for a loader
   * @param after ids of the calls of the phase before
   */
  addCertain(plan: CallPlan, request: UpstreamRequest, run: FieldRun | undefined, after: readonly number[]): void {
    const runs = run === undefined ? this.#runsThatNeed(request) : [run];
    const fields = runs.map(({ field }) => field);
    const { id } = plan.addCertain(request, fields, after);
    for (const each of runs) {
      this.#callsOfRun.set(each, (this.#callsOfRun.get(each) ?? new Set()).add(id));
    }
    if (run === undefined) {
      this.#noteLoad(request, id);
    }
  }

  #runsThatNeed({ call: { route, params = {} } }: UpstreamRequest): FieldRun[] {
    const { workflowIdOrIdentifier: key = '', id = '' } = params;
    switch (route) {
      case WORKFLOW:
        return this.#runs.filter(({ workflowKeys }) => workflowKeys.has(key));
      case GROUP:
        return this.#runs.filter(({ groupIds }) => groupIds.has(id));
      case GROUPS:
        return this.#runs.filter(({ groupIds, listsGroups }) => listsGroups || groupIds.size > 0);
      default:
        return [];
    }
  }

  #noteLoad({ call: { route, params = {} } }: UpstreamRequest, callId: number): void {
    const { workflowIdOrIdentifier: key = '', id = '' } = params;
    if (route === WORKFLOW) {
      this.#workflowCalls.set(key, callId);
    } else if (route === GROUP) {
      this.#groupCalls.set(id, callId);
    } else if (route === GROUPS) {
      this.#listCall = callId;
    }
  }

  /** Plans the calls of which data decides the number. */
  addOpen(plan: CallPlan, groupBounds: GroupLoadBounds, recorder: Recorder): void {
    const loads = new OpenLoads(recorder.limits.listItems);
    for (const [run, calls] of this.#callsOfRun) {
      const workflows = new Map([...this.#workflowCalls].filter(([key]) => run.workflowKeys.has(key)));
      loads.visit(run, [...calls], workflows);
    }
    const { fields, after, max, reason } = loads.workflows;
    const workflows = plan.addOpen({ route: WORKFLOW, fields, after, max, reason });
    this.#addGroups(plan, groupBounds, recorder, loads.groups, workflows);
  }

  #addGroups(
    plan: CallPlan,
    groupBounds: GroupLoadBounds,
    recorder: Recorder,
    { fields, after, others, workflowKeys, needsOpenWorkflows, reason }: OpenLoads['groups'],
    openWorkflows: { id: number; max: number } | undefined,
  ): void {
    if (this.#listCall !== undefined) {
      groupBounds.listed();
      plan.addFields(this.#listCall, fields);
    }
    if (this.#groupCalls.size > 0) {
      groupBounds.loadedOne();
    }
    const workflows = needsOpenWorkflows ? this.#workflowCalls.size + (openWorkflows?.max ?? 0) : workflowKeys.size;
    const { list, byId } = groupBounds.load(workflows + others);
    const providers = [...after, ...(openWorkflows === undefined ? [] : [openWorkflows.id])];
    const added = plan.addOpen({
      route: GROUPS,
      fields,
      after: providers,
      max: list,
      reason: GROUP_LOAD_REASONS.list,
      request: () => recorder.requestOf({ route: GROUPS, expect: 'list' }),
    });
    const lists = [this.#listCall, added?.id].filter((id) => id !== undefined);
    const fromList = this.#listCall === undefined ? [] : this.#runs.flatMap(({ groupIds }) => [...groupIds]);
    const missing = new Set(fromList.filter((id) => !this.#groupCalls.has(id)));
    const runs = this.#runs.filter(({ groupIds }) => [...groupIds].some((id) => missing.has(id)));
    const waiting = [...this.#workflowCalls.values()].slice(WORKFLOW_CONCURRENCY);
    plan.addOpen({
      route: GROUP,
      fields: [...fields, ...runs.map(({ field }) => field)],
      after: [...(byId > 0 ? providers : []), ...lists],
      max: byId + missing.size,
      displaced: plan.displace(waiting, missing.size), // The list can arrive before they start.
      reason: byId === 0 ? GROUP_LOAD_REASONS.afterList : lists.length === 0 ? reason : GROUP_LOAD_REASONS.byId,
    });
  }
}
