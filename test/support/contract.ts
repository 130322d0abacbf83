import { readFileSync } from 'node:fs';
import { type Document, OpenAPIBackend, type Options } from 'openapi-backend';
import { parse } from 'yaml';
import type { Exchange } from './service.ts';

/** Validates an exchange against the OpenAPI document. Returns one sentence per violation. */
export type ContractCheck = (exchange: Exchange, prefix?: string) => string[];

let check: Promise<ContractCheck> | undefined;

/** Creates a check from the OpenAPI documents in `schema/`, which are read once per process. That of modules has only requests. */
export function createContractCheck(): Promise<ContractCheck> {
  check ??= readContract();
  return check;
}

/** Reads an OpenAPI document in `schema/`. */
export function openContract(name: 'upstream' | 'modules', options: Partial<Options> = {}): Promise<OpenAPIBackend> {
  const text = readFileSync(new URL(`../../schema/${name}.openapi.yaml`, import.meta.url), 'utf8');
  const definition: Document = parse(text);
  return new OpenAPIBackend({ definition, quick: true, ...options }).init();
}

async function readContract(): Promise<ContractCheck> {
  const ofModules = await openContract('modules', { coerceTypes: true });
  const api = await openContract('upstream', {
    strict: true,
    coerceTypes: true,
    customizeAjv: (ajv) => ajv.addFormat('date-time', (text: string) => !Number.isNaN(Date.parse(text))),
  });
  return ({ method, path, headers, body, status, responseBody }, prefix = '') => {
    const name = `${method} ${path}`;
    if (!path.startsWith(`${prefix}/v1/`)) {
      return [`${name} is outside the prefix ${prefix}`];
    }
    const request = {
      method,
      path: path.slice(prefix.length),
      headers: { ...headers },
      ...(body !== '' && { body: JSON.parse(body) }),
    };
    const operation = api.matchOperation(request);
    const known = operation ?? ofModules.matchOperation(request);
    if (known === undefined) {
      return [`${name} is not an operation of the contract`];
    }
    // A request rejected as invalid may violate the contract.
    const isRejected = status === 400 || status === 422;
    const errors = isRejected ? null : (operation ? api : ofModules).validateRequest(request, known).errors;
    const sent = (errors ?? []).map((error) => `${name}: request ${error.instancePath} ${error.message}`);
    if (operation === undefined) {
      return sent;
    }
    const declared = Object.keys(operation.responses ?? {});
    const expected = status < 400 ? String(status) : `${Math.floor(status / 100)}XX`;
    const content = responseBody === '' ? undefined : JSON.parse(responseBody);
    const isBare =
      status < 300 &&
      (Array.isArray(content) || '_organizationId' in (content ?? {}) || 'acknowledged' in (content ?? {}));
    const received =
      content === undefined
        ? []
        : (api.validateResponse(isBare ? { data: content } : content, operation, status).errors ?? []);
    return [
      ...sent,
      ...(declared.includes(expected) ? [] : [`${name}: status ${status} is not in the contract`]),
      ...received.map((error) => `${name}: response ${error.instancePath} ${error.message}`),
    ];
  };
}
