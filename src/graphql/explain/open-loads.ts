import { dependentCallsOf } from '../declarations.ts';
import { type Dependent, findDependents, mostOf } from './dependents.ts';
import type { FieldRun } from './field-run.ts';

/** Records whose fields load others. */
interface Parents {
  /** Keys of workflows that are loaded for certain, with the ids of their calls. */
  known: ReadonlyMap<string, number>;
  /** Maximum number of other records. */
  others: number;
  /** Whether they are workflows that open loads return. */
  areOpen: boolean;
  /** Ids of the calls that return the other records. */
  after: readonly number[];
}

/** Loads of one kind. */
interface Loads {
  readonly fields: Set<string>;
  /** Ids of the calls that return the records whose fields load others. */
  readonly after: Set<number>;
  reason: string;
}

const newLoads = (): Loads => ({ fields: new Set(), after: new Set(), reason: '' });

/** Collects the loads below root fields of which data decides the number. */
export class OpenLoads {
  readonly workflows = { ...newLoads(), max: 0 };
  readonly groups = {
    ...newLoads(),
    /** Workflows that are loaded for certain. */
    workflowKeys: new Set<string>(),
    /** Maximum number of other records with a group. */
    others: 0,
    /** Whether workflows of open loads need groups too. */
    needsOpenWorkflows: false,
  };
  readonly #listItems: number;

  /** @param listItems maximum items of a list in a response */
  constructor(listItems: number) {
    this.#listItems = listItems;
  }

  /**
   * Visits a root field.
   *
   * @param calls ids of its calls
   * @param workflows ids of the calls of the workflows that it loads, by key
   */
  visit({ info, args, field }: FieldRun, calls: readonly number[], workflows: ReadonlyMap<string, number>): void {
    const own = dependentCallsOf(info.parentType.getFields()[info.fieldName]?.extensions);
    const place = workflows.size > 0 ? { path: '', lists: 0 } : undefined; // Each item is one of the known workflows.
    const dependents = findDependents(info, info.returnType, info.fieldNodes, place);
    const others = workflows.size > 0 ? 0 : 1;
    if (own !== undefined) {
      const most = mostOf(own, () => args);
      this.#addWorkflows(field, own.reason, most, calls);
    }
    this.#visitAll(dependents, { known: workflows, others, areOpen: false, after: calls });
  }

  #visitAll(dependents: readonly Dependent[], parents: Parents): void {
    const places = new Set<string>();
    for (const dependent of dependents) {
      const { calls, place, field } = dependent;
      const perParent = this.#listItems ** place.lists * dependent.most;
      const count = (parents.known.size + parents.others) * perParent;
      if (calls.loads === 'workflow') {
        this.#addWorkflows(field, calls.reason, count, [...parents.known.values(), ...parents.after]);
        this.#visitAll(dependent.dependents, { known: new Map(), others: 0, areOpen: true, after: [] });
        continue;
      }
      const isSameObject = places.has(place.path);
      places.add(place.path);
      this.#addGroups(dependent, parents, isSameObject ? 0 : parents.others * perParent);
    }
  }

  #addWorkflows(field: string, reason: string, count: number, after: readonly number[]): void {
    const { workflows } = this;
    workflows.max += count;
    workflows.reason ||= reason;
    workflows.fields.add(field);
    addAll(workflows.after, after);
  }

  #addGroups({ field, calls }: Dependent, { known, after, areOpen }: Parents, others: number): void {
    const { groups } = this;
    groups.fields.add(field);
    groups.reason ||= calls.reason;
    groups.others += others;
    groups.needsOpenWorkflows ||= areOpen;
    addAll(groups.workflowKeys, known.keys());
    addAll(groups.after, [...known.values(), ...after]);
  }
}

function addAll<T>(set: Set<T>, values: Iterable<T>): void {
  for (const value of values) {
    set.add(value);
  }
}
