// Validates requests and responses by the OpenAPI document of the service.

import { type Document, OpenAPIBackend, type Options } from 'openapi-backend';
import { readContract } from '../../codegen/openapi.ts';
import type { Exchange } from './service.ts';

/** Validates an exchange against the OpenAPI document. Returns one sentence per violation. */
export type ContractCheck = (
  exchange: Exchange,
  service?: {
    /** Path prefix. @default none */
    prefix?: string;
    /** Whether bodies may lack the envelope of the contract. @default false */
    mayBeBare?: boolean;
  },
) => string[];

let check: Promise<ContractCheck> | undefined;

/** Creates a check from the OpenAPI document, which is read once per process. */
export function createContractCheck(): Promise<ContractCheck> {
  check ??= createCheck();
  return check;
}

/** Reads the OpenAPI document in `schema/`. */
export const openContract = (options: Partial<Options> = {}): Promise<OpenAPIBackend> =>
  new OpenAPIBackend({ definition: readContract() as Document, quick: true, ...options }).init();

/** Returns the errors of the service that are examples in the contract. */
export async function readErrors(): Promise<Record<string, { statusCode: number; message?: string }>> {
  const { definition } = await openContract();
  const error = definition.components?.responses?.Error;
  const examples = error && 'content' in error ? error.content?.['application/json']?.examples : undefined;
  return Object.fromEntries(
    Object.entries(examples ?? {}).map(([name, example]) => [name, 'value' in example ? example.value : undefined]),
  );
}

async function createCheck(): Promise<ContractCheck> {
  const api = await openContract({
    strict: true,
    coerceTypes: true,
    customizeAjv: (ajv) => ajv.addFormat('date-time', (text: string) => !Number.isNaN(Date.parse(text))),
  });
  return ({ method, path, headers, body, status, responseBody }, { prefix = '', mayBeBare = false } = {}) => {
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
    if (operation === undefined) {
      return [`${name} is not an operation of the contract`];
    }
    // A request rejected as invalid may violate the contract.
    const isRejected = status === 400 || status === 422;
    const errors = isRejected ? null : api.validateRequest(request, operation).errors;
    const sent = (errors ?? []).map((error) => `${name}: request ${error.instancePath} ${error.message}`);
    const declared = Object.keys(operation.responses ?? {});
    if (declared.length === 0 || (status >= 400 && !declared.includes('4XX'))) {
      return sent;
    }
    const expected = status < 400 ? String(status) : `${Math.floor(status / 100)}XX`;
    const content = responseBody === '' ? undefined : JSON.parse(responseBody);
    const errorsOf = (sent: unknown) => api.validateResponse(sent, operation, status).errors ?? [];
    const asSent = content === undefined ? [] : errorsOf(content);
    const asData = mayBeBare && status < 300 && asSent.length > 0 ? errorsOf({ data: content }) : asSent;
    const received = asData.length === 0 || !('data' in Object(content)) ? asData : asSent;
    return [
      ...sent,
      ...(declared.includes(expected) ? [] : [`${name}: status ${status} is not in the contract`]),
      ...received.map((error) => `${name}: response ${error.instancePath} ${error.message}`),
    ];
  };
}
