/** Ends an import that can be resumed. The message is for the operator. */
export class ImportError extends Error {
  override readonly name = 'ImportError';
  /** Step that is necessary before the other rows can be sent, as a sentence. @default nothing: the same command resumes the import */
  readonly remedy: string | undefined;

  constructor(message: string, remedy?: string) {
    super(message);
    this.remedy = remedy;
  }
}
