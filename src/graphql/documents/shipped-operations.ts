import { readdirSync, readFileSync } from 'node:fs';

/** One named operation that ships with the gateway. */
export interface ShippedOperation {
  name: string;
  /** Its text, as it is in `schema/operations`. */
  query: string;
  /** Example variables as JSON text; they work with the sandbox's sample data. */
  variables?: string;
}

const FOLDER = new URL('../../../schema/operations/', import.meta.url);

/** Reads `schema/operations`, in the order of `examples.json`: an operation a file, named alike. */
export function loadOperations(folder: URL = FOLDER): ShippedOperation[] {
  const examples: Record<string, Record<string, unknown>> = JSON.parse(
    readFileSync(new URL('examples.json', folder), 'utf8'),
  );
  const order = Object.keys(examples);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.graphql'))
    .map((file) => file.slice(0, -'.graphql'.length))
    .sort((a, b) => order.indexOf(a) - order.indexOf(b))
    .map((name) => ({
      name,
      query: readFileSync(new URL(`${name}.graphql`, folder), 'utf8'),
      ...(Object.keys(examples[name] ?? {}).length > 0 && { variables: JSON.stringify(examples[name], null, 2) }),
    }));
}
