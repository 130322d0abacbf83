/** Condition that callers can wait for, such as that no request is in flight. */
export interface Condition {
  /** Resolves once the condition holds; immediately if it already does. */
  met(): Promise<void>;
  /** Resolves all waits if the condition holds. Call it after each change that can make it hold. */
  check(): void;
}

export function createCondition(holds: () => boolean): Condition {
  const waiting: (() => void)[] = [];
  return {
    async met() {
      if (!holds()) {
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
    check() {
      if (waiting.length > 0 && holds()) {
        for (const resolve of waiting.splice(0)) {
          resolve();
        }
      }
    },
  };
}
