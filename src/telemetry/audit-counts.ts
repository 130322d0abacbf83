import type { CounterMemory } from './counter-memory.ts';

/** Counts of the lines of audit logs. */
export interface AuditCounts {
  /** Counts a line. */
  add(result: 'written' | 'failed'): void;
}

/** Creates the counts. They have no samples until there is a line, because most gateways have no audit log. */
export function createAuditCounts(memory: CounterMemory): AuditCounts {
  const addCount = memory.addFamily({
    name: 'notigraph_audit_lines_total',
    help: 'Lines of the audit log: written, or failed to be written.',
    type: 'counter',
  });
  let positions: { written: number; failed: number } | undefined;
  return {
    add(result) {
      positions ??= { written: addCount({ result: 'written' }), failed: addCount({ result: 'failed' }) };
      memory.increase(positions[result], 1);
    },
  };
}
