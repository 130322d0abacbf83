import { DropdownMenu } from '@graphiql/react';
import type { PageOperation } from './config.ts';
import { ChevronIcon } from './icons.tsx';
import { toTitle } from './to-title.ts';
import { useTabs } from './use-tabs.ts';

/** Menu of all shipped operations. */
export function OperationsMenu({ operations }: { operations: readonly PageOperation[] }) {
  const { open } = useTabs();
  return (
    <DropdownMenu modal={false}>
      <DropdownMenu.Button className="button">
        Operations <ChevronIcon />
      </DropdownMenu.Button>
      <DropdownMenu.Content className="operations" align="start">
        {operations.map((operation) => (
          <DropdownMenu.Item key={operation.name} textValue={toTitle(operation.name)} onSelect={() => open(operation)}>
            <strong>{toTitle(operation.name)}</strong>
            <span>{operation.description}</span>
          </DropdownMenu.Item>
        ))}
      </DropdownMenu.Content>
    </DropdownMenu>
  );
}
