import { loadOperations } from '../../graphql/documents/shipped-operations.ts';
import { createAssets } from '../../http/graphiql/graphiql.ts';
import { InstallationError } from '../../lib/installation.ts';
import type { LoadedConfig } from '../config/load-config.ts';
import type { Problem } from '../config/problem.ts';

/** Missing parts of the installation, which only GraphiQL needs. */
interface InstallationProblems {
  /** Problems that prevent a start. */
  problems: readonly Problem[];
  warnings: readonly Problem[];
}

/** Returns what is missing in the installation for a configuration. */
export async function findInstallationProblems({
  config,
  values,
  locate,
}: LoadedConfig): Promise<InstallationProblems> {
  if (!config.graphiql) {
    return { problems: [], warnings: [] };
  }
  const { place, name } = values.graphiql === undefined ? { name: 'GraphiQL' } : locate(['graphiql']);
  const page = await createAssets().findProblem();
  return {
    problems: findOperationProblems().map((problem) => ({ place, sentence: `${name}: ${problem}.` })),
    warnings: page === undefined ? [] : [{ place, sentence: `${name}: the page can't be served, because ${page}.` }],
  };
}

/** Returns why the operations in the page's menu can't be read. */
function findOperationProblems(): string[] {
  try {
    loadOperations();
    return [];
  } catch (error) {
    if (error instanceof InstallationError) {
      return [error.message];
    }
    throw error;
  }
}
