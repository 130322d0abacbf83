/** An environment owns its records; a request sees those of the environment that its key belongs to. */
export interface Environment {
  readonly name: 'development' | 'production';
  readonly id: string;
  readonly organizationId: string;
  /** The user who is named as the creator of workflows and templates. */
  readonly creatorId: string;
}

/** The two API keys; each is an environment of its own. */
export const SANDBOX_KEYS = {
  development: 'sandbox-development-key',
  production: 'sandbox-production-key',
} as const;

const organization = { organizationId: '65f0000000000000000000a1', creatorId: '65f0000000000000000000c1' };

export const DEVELOPMENT: Environment = { name: 'development', id: '65f0000000000000000000d1', ...organization };
export const PRODUCTION: Environment = { name: 'production', id: '65f0000000000000000000e1', ...organization };

/** The environment that an `Authorization` header gives access to. */
export function findEnvironment(authorization: string | undefined): Environment | undefined {
  return [DEVELOPMENT, PRODUCTION].find(({ name }) => authorization === `ApiKey ${SANDBOX_KEYS[name]}`);
}
