import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Ends of the names of slow files, and the folders with the slowest ones, slowest first. */
const ENDS = ['long', 'samples', 'slow'];
const FOLDERS = ['cli', 'docs', 'graphiql', 'redis', 'browser', 'slow', 'add-a-noun', 'attacks', 'upstream', 'client'];

/** Returns the place of a name in a list, or a later one for all others. */
const rank = (names: readonly string[], name = ''): number =>
  names.includes(name) ? names.indexOf(name) : names.length;

/** Starts slow files first, so that no worker is left with a slow one at the end. */
export default class LongestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const bySize = await super.sort(specifications);
    const isQuick = ({ moduleId }: TestSpecification) =>
      Number(rank(ENDS, /(\w+)\.test\.ts$/.exec(moduleId)?.[1]) === ENDS.length);
    const folder = ({ moduleId }: TestSpecification) =>
      rank(FOLDERS, /\/(?:packages|test)\/([^/]+)/.exec(moduleId)?.[1]);
    return bySize.toSorted((a, b) => isQuick(a) - isQuick(b) || folder(a) - folder(b));
  }
}
