// Reads the shipped operations, also those of modules, with the types of the client's documents.

import type * as documents from '../../packages/client/src/documents.gen.ts';
import type { TypedDocument } from '../../packages/client/src/index.ts';
import { shippedManifest } from '../../src/documents/shipped-operations.ts';
import type { TestDocument } from './gateway.ts';
import { shippedSchema } from './shipped-documents.ts';

type Documents = typeof documents;

/** The operations by name, as they are in their files. */
export const operations = Object.fromEntries(
  Object.entries(shippedManifest(shippedSchema)).map(([name, text]) => [name, { toString: () => text }]),
) as {
  [Name in keyof Documents as Name extends `${infer Operation}Document`
    ? Operation
    : never]: Documents[Name] extends TypedDocument<infer Data, infer Variables>
    ? TestDocument<Data, Variables>
    : never;
};
