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
