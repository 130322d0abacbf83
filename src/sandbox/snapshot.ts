import type { SandboxDatabase } from './database.ts';
import { integer, text } from './rows.ts';

/** Copy of all records of a database in memory. */
export interface Snapshot {
  /** Restores the records. Takes no time if nothing was written. */
  restore(): void;
}

/** Copies all records. A database can have one snapshot. */
export function takeSnapshot(database: SandboxDatabase): Snapshot {
  const countChanges = () => integer(database.prepare('SELECT total_changes() AS changes').get() ?? {}, 'changes');
  database.prepare("ATTACH ':memory:' AS snapshot").run();
  const tables = database.prepare("SELECT name FROM main.sqlite_schema WHERE type = 'table'").all();
  const copies = tables.map((row) => {
    const table = `"${text(row, 'name')}"`;
    // Without generated columns, which can't be written.
    const columns = database.prepare(`PRAGMA main.table_info(${table})`).all();
    const names = columns.map((column) => `"${text(column, 'name')}"`).join(', ');
    database.prepare(`CREATE TABLE snapshot.${table} AS SELECT ${names} FROM main.${table} ORDER BY rowid`).run();
    return {
      clear: `DELETE FROM main.${table}`,
      fill: `INSERT INTO main.${table} (${names}) SELECT ${names} FROM snapshot.${table} ORDER BY rowid`,
    };
  });
  let changes = countChanges();
  return {
    restore() {
      if (countChanges() === changes) {
        return;
      }
      database.transaction(() => {
        for (const { clear, fill } of copies) {
          database.prepare(clear).run();
          database.prepare(fill).run();
        }
      });
      changes = countChanges();
    },
  };
}
