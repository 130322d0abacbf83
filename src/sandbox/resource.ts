import type { Clock } from './clock.ts';
import type { SandboxDatabase } from './database.ts';
import type { Environment } from './environments.ts';
import type { Migration } from './migrations.ts';
import type { SandboxResponse } from './response.ts';
import type { Row } from './rows.ts';

/** Records of one noun, for the sandbox's landing page. */
export interface RecordList {
  /** Plural name of the noun. */
  title: string;
  /** Records with the id that requests use. */
  records: readonly { id: string; label: string }[];
}

/** One noun of the API. Each file in `resources/` exports one as `resource`. */
export interface Resource {
  /** Creates and changes the noun's tables. */
  migrations: readonly Migration[];
  /** Writes sample records. Runs once per file, after the noun's first migration. @default no samples */
  writeSamples?(database: SandboxDatabase, clock: Clock): void;
  /** Lists the noun's records for the landing page. @default not listed */
  listRecords?(database: SandboxDatabase, environment: Environment): RecordList;
  /** Returns a handler for each of the noun's endpoints, by the `operationId` in the OpenAPI document. */
  createHandlers(database: SandboxDatabase, clock: Clock): Readonly<Record<string, OperationHandler>>;
}

/** A request that conforms to the OpenAPI document. */
export interface OperationRequest {
  environment: Environment;
  params: Row;
  query: Row;
  /** Empty for operations without a body. */
  body: Row;
}

/** Runs an operation. Throws an `ApiError` to reject the request. */
export type OperationHandler = (request: OperationRequest) => SandboxResponse;
