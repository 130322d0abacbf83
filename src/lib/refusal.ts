/** One error of a refused request. Details appear in the `extensions` of the response's error. */
export interface RefusalError {
  /** One of the codes of `settings/error-codes.ts`. */
  code: string;
  /** One or two sentences for the caller: the problem, then the remedy. */
  message: string;
  /** Whether sending the same request again can succeed. */
  retryable: boolean;
  retryAfterSeconds?: number;
  /** With UNAUTHENTICATED: the kind of problem with the credential. */
  reason?: string;
  /** With FORBIDDEN: the missing scope. */
  scope?: string;
}

/** Stops a request before it is executed. Carries everything its response needs. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly errors: readonly RefusalError[];

  constructor(status: number, errors: readonly [RefusalError, ...RefusalError[]], headers: Refusal['headers'] = {}) {
    super(errors[0].message);
    this.status = status;
    this.errors = errors;
    this.headers = headers;
  }
}

/** Returns the errors of a refusal as they appear in the response, with further extensions. */
export const refusalErrors = <Extensions extends object>({ errors }: Refusal, extensions: Extensions) =>
  errors.map(({ message, ...details }) => ({ message, extensions: { ...details, ...extensions } }));
