import { GraphQLError } from 'graphql';

/** Creates the error of an argument that the gateway rejects before any call. */
export const badUserInput = (message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT' } });

/** Creates the error of a value that violates the contract. */
export const badResponse = (problem: string): GraphQLError =>
  new GraphQLError(`The notification service ${problem}.`, { extensions: { code: 'UPSTREAM_BAD_RESPONSE' } });

/** Returns a value that the service must send. Throws UPSTREAM_BAD_RESPONSE if it is missing. Used where GraphQL doesn't check it. */
export function requireValue<T>(value: T | null | undefined): T {
  if (value == null) {
    throw badResponse('did not send a required value');
  }
  return value;
}

/** Throws BAD_USER_INPUT unless `min <= value <= max`. */
export function assertRange(name: string, value: number, min: number, max: number): void {
  if (value < min || value > max) {
    throw badUserInput(`${name} must be between ${min} and ${max}, but is ${value}.`);
  }
}
