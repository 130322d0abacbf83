import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync } from 'node:zlib';
import type { SANDBOX_KEYS } from '../../src/sandbox/sandbox.ts';

/** Request to a sandbox, with its response. */
export interface RecordedExchange {
  as: keyof typeof SANDBOX_KEYS;
  /** Method and path: `GET /v1/…`. */
  target: string;
  body?: Record<string, unknown>;
  /** Value of `Idempotency-Key`. */
  key?: string;
  status: number;
  /** Body of the response. */
  text: string;
}

/** Exchanges that belong to a recorded sandbox file. */
export interface Recording {
  /** Time of every exchange. */
  now: string;
  writes: RecordedExchange[];
  reads: RecordedExchange[];
}

const read = (name: string): Buffer => readFileSync(new URL(name, import.meta.url));

/** Returns the versions that have a recorded file. */
export const recordedVersions = (): number[] =>
  readdirSync(new URL('.', import.meta.url))
    .filter((name) => name.endsWith('.db.gz'))
    .map((name) => Number(/^version-(\d+)/.exec(name)?.[1]));

/** Writes the recorded sandbox file of a version to a path, and returns what was recorded with it. */
export function restore(version: number, file: string): Recording {
  writeFileSync(file, gunzipSync(read(`version-${version}.db.gz`)));
  return JSON.parse(read(`version-${version}.json`).toString());
}

/** Version and rows of a sandbox file, by table. */
export interface Contents {
  version: unknown;
  tables: Record<string, unknown[]>;
}

/** Reads a whole sandbox file. */
export function readContents(file: string): Contents {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const names = database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
      .all()
      .map(({ name }) => String(name));
    return {
      version: database.prepare('PRAGMA user_version').get()?.user_version,
      tables: Object.fromEntries(
        names.map((name) => [name, database.prepare(`SELECT * FROM ${name} ORDER BY rowid`).all()]),
      ),
    };
  } finally {
    database.close();
  }
}

/** Changes a sandbox file by SQL, as another program would. */
export function change(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}

/** Returns the recorded writes with an idempotency key, which a client may repeat. */
export const withKeys = ({ writes }: Recording): RecordedExchange[] => writes.filter(({ key }) => key !== undefined);
