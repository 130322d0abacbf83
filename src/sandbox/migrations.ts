/** One step from an older database file to the current one. Published migrations never change. */
export interface Migration {
  /** Version of the file after this step, stored as SQLite's `user_version`. A new migration takes the next free number. */
  version: number;
  /** One sentence, shown if the step fails. */
  description: string;
  sql: string;
}

/**
 * Merges the migrations of all tables into one list, ordered by version.
 *
 * @throws {Error} if a number is missing or used twice; only version 1, the first one, is shared by several tables
 */
export function orderMigrations(migrations: readonly Migration[]): readonly Migration[] {
  const ordered = migrations.toSorted((a, b) => a.version - b.version);
  const last = ordered.at(-1)?.version;
  let previous: Migration | undefined;
  for (const migration of ordered) {
    const { version, description } = migration;
    if (version === previous?.version && version !== 1) {
      throw new Error(
        `Two sandbox migrations have version ${version} ("${previous.description}" and "${description}"). Change the newer one to the next free version; the last one is ${last}.`,
      );
    }
    if (version - (previous?.version ?? 0) > 1) {
      throw new Error(`The sandbox migration with version ${version} ("${description}") leaves out a version.`);
    }
    previous = migration;
  }
  return ordered;
}
