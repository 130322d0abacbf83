// Starts slow test files first, so that no worker is left with a slow one at the end.

import { BaseSequencer, type TestSpecification } from 'vitest/node';

const IS_SLOW = /\.(?:long|samples|slow)\.test\.ts$/;

/** Folders with the slowest files, slowest first. */
const FOLDERS = ['cli', 'docs', 'graphiql', 'redis', 'browser', 'slow', 'add-a-noun', 'attacks', 'upstream', 'client'];

export default class LongestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const bySize = await super.sort(specifications);
    const isQuick = ({ moduleId }: TestSpecification) => Number(!IS_SLOW.test(moduleId));
    const rankOf = ({ moduleId }: TestSpecification): number => {
      const [, folder = ''] = /\/(?:packages|test)\/([^/]+)/.exec(moduleId) ?? [];
      return FOLDERS.includes(folder) ? FOLDERS.indexOf(folder) : FOLDERS.length;
    };
    return bySize.toSorted((a, b) => isQuick(a) - isQuick(b) || rankOf(a) - rankOf(b));
  }
}
