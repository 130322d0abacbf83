/** Extension of a mutation's field that changes or deletes nothing that exists, for AI agents: `extensions: ADDS_ONLY`. */
export const ADDS_ONLY = { addsOnly: true } as const;
