import type { GraphQLResolveInfo } from 'graphql';
import type { Endpoints } from '../../upstream/endpoints/index.gen.ts';
import { findIdProblem } from '../../upstream/transport/path.ts';
import type { CallContext } from '../loaders/loaders.ts';
import { watchLoads } from '../loaders/watch-loads.ts';

/** Run of one root field. Notes the records that it needs from loaders, which make calls for several fields together. */
export class FieldRun {
  readonly info: GraphQLResolveInfo;
  readonly args: Record<string, unknown>;
  /** Name, such as `Query.workflow`. */
  readonly field: string;
  readonly workflowKeys = new Set<string>();
  /** Valid ids of notification groups. */
  readonly groupIds = new Set<string>();
  /** Whether it needs all notification groups. */
  listsGroups = false;

  constructor(info: GraphQLResolveInfo, args: Record<string, unknown>) {
    this.info = info;
    this.args = args;
    this.field = `${info.parentType.name}.${info.fieldName}`;
  }

  /**
   * Returns the context for the field's resolver.
   *
   * @param upstream endpoints that record the field's own calls
   * @param onGroupsCleared called when a write makes the loader of notification groups forget its list
   */
  contextOf<Context extends CallContext>(context: Context, upstream: Endpoints, onGroupsCleared: () => void): Context {
    const loaders = watchLoads(context.loaders, {
      onWorkflow: (key) => this.workflowKeys.add(key),
      onGroup: (id) => {
        if (findIdProblem(id) === undefined) {
          this.groupIds.add(id);
        }
      },
      onGroupList: () => {
        this.listsGroups = true;
      },
      onGroupsCleared,
    });
    return { ...context, upstream, loaders };
  }
}
