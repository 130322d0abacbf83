import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** Returns a module with the endpoints of OpenAPI documents, such as `GET /v1/feeds/{feedId}`, and their type. */
export function writeEndpoints(...files: readonly URL[]): string {
  const documents = files.map((file): { paths: Record<string, object> } => parse(readFileSync(file, 'utf8')));
  const endpoints = documents
    .flatMap(({ paths }) => Object.entries(paths))
    .flatMap(([route, item]) =>
      METHODS.filter((method) => method in item).map((method) => `  '${method.toUpperCase()} ${route}',\n`),
    );
  return `/** Endpoints of the service. */
export const ENDPOINTS = [
${endpoints.join('')}] as const;

/** Endpoint of the service. */
export type Endpoint = (typeof ENDPOINTS)[number];
`;
}
