import type { paths } from '../openapi.gen.ts';
import type { Tag } from './store.ts';
import { MAX_TAGS, type PathParams, recordTag, workflowTags } from './tags.ts';

type Method = 'post' | 'put' | 'patch' | 'delete';

/** Method and route of each write in the contract. */
export type WriteEndpoint = {
  [Route in keyof paths]: {
    [M in Method]: paths[Route][M] extends object ? `${Uppercase<M>} ${Route}` : never;
  }[Method];
}[keyof paths];

/** Reads that a write changes. */
export interface WriteEffect {
  /** Returns their tags. */
  tags: (params: PathParams) => readonly Tag[];
  /** Returns more tags from the response. @default none */
  responseTags?: (body: unknown) => readonly Tag[];
}

const group: WriteEffect = {
  // Workflows embed their group.
  tags: ({ id = '' }) => ['groups', recordTag('group', id), 'workflows'],
};

/** Writes, and the cached reads that each one changes: one line per endpoint. `undefined`: none. */
export const WRITE_EFFECTS: Readonly<Record<WriteEndpoint, WriteEffect | undefined>> = {
  'POST /v1/notification-groups': { tags: () => ['groups'] },
  'PATCH /v1/notification-groups/{id}': group,
  'DELETE /v1/notification-groups/{id}': group,
  'PUT /v1/workflows/{workflowId}/status': {
    tags: ({ workflowId = '' }) => [recordTag('workflow', workflowId)],
    responseTags(body) {
      const tags = workflowTags(body);
      return tags.length > MAX_TAGS ? ['workflows'] : tags;
    },
  },
  'DELETE /v1/messages/transaction/{transactionId}': { tags: () => ['statistics'] },
  'POST /v1/subscribers': undefined,
  'POST /v1/feeds': undefined,
  'DELETE /v1/feeds/{feedId}': undefined,
};
