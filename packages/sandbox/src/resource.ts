// The parts of a noun: its tables, records and endpoints.

import type { SandboxDatabase } from './database.ts';
import type { Environment } from './environments.ts';
import type { AllRecords } from './records.ts';
import type { SandboxResponse } from './response.ts';
import type { Row } from './rows.ts';
import type { ActiveTraits } from './traits.ts';

/** One noun of the API. Each file in `resources/` exports one as `resource`. */
export interface Resource {
  /** Statements that create the noun's tables. @default none */
  schema?: string;
  /** Writes sample records that only this noun knows. Runs once per file, after its tables are created. @default no samples */
  writeSamples?(database: SandboxDatabase, clock: () => Date): void;
  /**
   * Writes the noun's records: those of the sample, at the same time, and those that tests add. They can refer to records of the nouns below it in
   * `resources`. It throws a `TypeError` for an invalid one.
   *
   * @param target environment of the records, and the time of those without one, in ISO 8601
   * @default none
   */
  writeRecords?(
    database: SandboxDatabase,
    records: AllRecords,
    target: { environment: Environment; now: string },
  ): void;
  /**
   * Lists the noun's records on the landing page: its plural name, and a query with the id of an environment as its parameter, which returns the
   * columns `id`, as requests use it, and `label`. @default not listed
   */
  recordList?: { title: string; sql: string };
  /**
   * Returns a handler for each of the noun's endpoints, by the `operationId` in the OpenAPI document.
   *
   * @param topUp writes the sample traffic up to today, for endpoints that read it
   */
  createHandlers(
    database: SandboxDatabase,
    clock: () => Date,
    topUp: () => void,
  ): Readonly<Record<string, OperationHandler>>;
}

/** A request that conforms to the OpenAPI document. */
export interface OperationRequest {
  environment: Environment;
  params: Row;
  query: Row;
  /** Empty for operations without a body. */
  body: Row;
  traits: ActiveTraits;
}

/** Runs an operation. Throws an `ApiError` to reject the request. */
type OperationHandler = (request: OperationRequest) => SandboxResponse;
