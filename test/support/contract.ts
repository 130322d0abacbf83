import { readFileSync } from 'node:fs';
import { type Document, OpenAPIBackend } from 'openapi-backend';
import { parse } from 'yaml';
import type { Exchange } from './recorder.ts';

/** Holds what went over the wire against the OpenAPI document; answers what breaks it, one sentence a problem. */
export type ContractCheck = (exchange: Exchange, prefix?: string) => string[];

let check: Promise<ContractCheck> | undefined;

/** Reads `schema/upstream.openapi.yaml`, once per process. */
export function createContractCheck(): Promise<ContractCheck> {
  check ??= readContract();
  return check;
}

async function readContract(): Promise<ContractCheck> {
  const definition: Document = parse(
    readFileSync(new URL('../../schema/upstream.openapi.yaml', import.meta.url), 'utf8'),
  );
  const api = await new OpenAPIBackend({
    definition,
    quick: true,
    strict: true,
    coerceTypes: true,
    customizeAjv: (ajv) => ajv.addFormat('date-time', (text: string) => !Number.isNaN(Date.parse(text))),
  }).init();

  return ({ method, path, headers, body, status, responseBody }, prefix = '') => {
    const name = `${method} ${path}`;
    if (!path.startsWith(`${prefix}/v1/`)) {
      return [`${name} is outside of the prefix ${prefix}`];
    }
    const request = {
      method,
      path: path.slice(prefix.length),
      headers: Object.fromEntries(
        Object.entries(headers).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
      ),
      ...(body !== '' && { body: JSON.parse(body) }),
    };
    const operation = api.matchOperation(request);
    if (operation === undefined) {
      return [`${name} is no operation of the contract`];
    }
    // A request that the service refuses for its content may break the contract: the service is there to say so.
    const isRefused = status === 400 || status === 422;
    const sent = (isRefused ? null : api.validateRequest(request, operation).errors) ?? [];
    const declared = Object.keys(operation.responses ?? {});
    const expected = status < 400 ? String(status) : `${Math.floor(status / 100)}XX`;
    const answer = responseBody === '' ? undefined : JSON.parse(responseBody);
    const isBare =
      status < 300 &&
      (Array.isArray(answer) || '_organizationId' in (answer ?? {}) || 'acknowledged' in (answer ?? {}));
    const received =
      answer === undefined
        ? []
        : (api.validateResponse(isBare ? { data: answer } : answer, operation, status).errors ?? []);
    return [
      ...sent.map((error) => `${name}: request ${error.instancePath} ${error.message}`),
      ...(declared.includes(expected) ? [] : [`${name}: status ${status} is not in the contract`]),
      ...received.map((error) => `${name}: answer ${error.instancePath} ${error.message}`),
    ];
  };
}
