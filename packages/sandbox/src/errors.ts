// Errors that prevent the start, and errors that are responses.

/** An error that prevents the sandbox from starting. The message is written for the terminal. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
}

/** An error with a status of its own. Any other error is a bug, and its response is 500. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** The `message` of the response's body. */
  readonly messages: string | string[];
  /** Headers of the response, such as `Allow` or `Retry-After`. */
  readonly headers: Record<string, string>;

  constructor(status: number, messages: string | string[], headers: Record<string, string> = {}) {
    super(typeof messages === 'string' ? messages : messages.join(' '));
    this.status = status;
    this.messages = messages;
    this.headers = headers;
  }
}

/** An error that leaves what was written before it. */
export class ChangingError extends ApiError {}

/** Creates the error of a service that fails. */
export const internalError = (): ApiError =>
  new ApiError(500, 'Internal server error, contact support and provide them with the errorId');
