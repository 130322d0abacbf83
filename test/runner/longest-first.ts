import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Projects in the order in which they start. A worker runs files of one project only, and each new one loads all modules again. */
const PROJECTS = ['long', 'slow', 'quick'];

/** Folders with the slowest test files, slowest first. */
const LONG = ['cli', 'docs', 'graphiql', 'redis', 'browser', 'slow', 'add-a-noun', 'attacks', 'upstream', 'client'];

/** Starts slow files first, so that no worker is left with a slow one at the end. */
export default class LongestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const bySize = await super.sort(specifications);
    const projectOf = ({ project }: TestSpecification): number => PROJECTS.indexOf(project.name);
    const rankOf = ({ moduleId }: TestSpecification): number => {
      const [, folder = ''] = /\/(?:packages|test)\/([^/]+)/.exec(moduleId) ?? [];
      return LONG.includes(folder) ? LONG.indexOf(folder) : LONG.length;
    };
    return bySize.toSorted((a, b) => projectOf(a) - projectOf(b) || rankOf(a) - rankOf(b));
  }
}
