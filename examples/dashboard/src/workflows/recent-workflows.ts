import { createContext, use } from 'react';
import { type Remembered, useRemembered } from '../session/use-remembered.ts';

const isId = (value: unknown): value is string => typeof value === 'string';

/** Ids of the workflows that the person looked up or changed in this browser, newest first. An idle workflow is in no statistics. */
export const useRecentWorkflows = (): Remembered<string> => useRemembered('workflows', isId);

/** Remembers a workflow. */
export const RememberWorkflowContext = createContext<(id: string) => void>(() => {});

export const useRememberWorkflow = (): ((id: string) => void) => use(RememberWorkflowContext);
