import type { Clock } from './clock.ts';
import { SandboxDatabase } from './database.ts';
import { IDEMPOTENCY_MIGRATIONS } from './idempotency.ts';
import { type Migration, orderMigrations } from './migrations.ts';
import type { Resource } from './resource.ts';

/** Returns the migrations of all tables, ordered by version. */
export function collectMigrations(resources: readonly Resource[]): readonly Migration[] {
  return orderMigrations([...IDEMPOTENCY_MIGRATIONS, ...resources.flatMap(({ migrations }) => migrations)]);
}

/** Opens the database file, creates or upgrades its tables, and adds the samples of resources that are new to the file. */
export function openDatabase(file: string, resources: readonly Resource[], clock: Clock): SandboxDatabase {
  return new SandboxDatabase(file, {
    migrations: collectMigrations(resources),
    onUpgrade(database, from) {
      for (const { migrations, writeSamples } of resources) {
        if (migrations.every(({ version }) => version > from)) {
          writeSamples?.(database, clock);
        }
      }
    },
  });
}

/** Replaces all records of a file by the samples. A sandbox that is using the file shows them at once. */
export function resetDatabase(file: string, resources: readonly Resource[], clock: Clock): void {
  using database = openDatabase(file, resources, clock);
  database.recreate();
  for (const { createHandlers } of resources) {
    createHandlers(database, clock); // Writes the sample traffic.
  }
}
