/** Why a sandbox cannot start; the message is one sentence for the person at the terminal. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
  readonly code: 'SANDBOX_DATABASE' | 'SANDBOX_PORT';

  constructor(code: SandboxError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

interface ApiErrorOptions {
  /** Sent with the answer, for example `Allow` or `Retry-After`. */
  headers?: Record<string, string>;
}

/** A request that is answered with an error status; everything else that is thrown counts as a bug and answers 500. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly sentences: string | string[];
  readonly headers: Record<string, string>;

  constructor(status: number, sentences: string | string[], { headers = {} }: ApiErrorOptions = {}) {
    super(typeof sentences === 'string' ? sentences : sentences.join(' '));
    this.status = status;
    this.sentences = sentences;
    this.headers = headers;
  }
}
