/** Ends an import that can be resumed. The message is for the operator. */
export class ImportError extends Error {
  override readonly name = 'ImportError';
}
