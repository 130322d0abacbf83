/** Ends an import that can be resumed. The message is for the operator. */
export class ImportError extends Error {
  override readonly name = 'ImportError';
  /** What to do to send the other rows: the beginning of a sentence. */
  readonly remedy: string;

  constructor(message: string, remedy = 'Run the same command again') {
    super(message);
    this.remedy = remedy;
  }
}
