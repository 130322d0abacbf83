import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Folders whose files take longest, longest first. */
const LONG = [
  'cli',
  'browser',
  'slow',
  'package.test.ts',
  'add-a-noun',
  'sandbox-versions',
  'attacks',
  'docs',
  'upstream',
  'client',
];

/** Starts files that take long before others, so that no worker is left with one at the end. */
export default class LongestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const bySize = await super.sort(specifications);
    const rankOf = ({ moduleId }: TestSpecification): number => {
      const [, folder = ''] = /\/test\/([^/]+)/.exec(moduleId) ?? [];
      return LONG.includes(folder) ? LONG.indexOf(folder) : LONG.length;
    };
    return bySize.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}
