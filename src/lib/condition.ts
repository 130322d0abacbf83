// Conditions that callers can wait for, such as that no request is in flight.

export function createCondition(holds: () => boolean) {
  const waiting: (() => void)[] = [];
  return {
    /** Resolves once the condition holds; immediately if it already does. */
    async met(): Promise<void> {
      if (!holds()) {
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
    /** Resolves all waits if the condition holds. Call it after each change that can make it hold. */
    check(): void {
      if (waiting.length > 0 && holds()) {
        for (const resolve of waiting.splice(0)) {
          resolve();
        }
      }
    },
  };
}
