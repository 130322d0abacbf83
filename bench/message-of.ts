/** Returns the message of an error, or another thrown value as text. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
