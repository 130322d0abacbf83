// Declares lists that are read by pages: the type of a page, and the arguments that choose one.

import type { ArgBuilder } from '@pothos/core';
import { assertRange } from '../toolkit/arguments.ts';
import type { Builder, GraphTypes } from '../toolkit/builder.ts';

/** Page as the service sends it. It has `hasMore` or `totalCount`: those that the type of the page shows are checked. */
export interface PageBody<Row> {
  page: number;
  data: Row[];
  hasMore: boolean;
  totalCount: number;
}

/** Declares the type of a page of records: `definePage(builder, 'TopicPage', 'topics', Topic, 'totalCount')`. */
export const definePage = <Row>(
  builder: Builder,
  name: string,
  records: string,
  type: PothosSchemaTypes.ObjectRef<GraphTypes, Row>,
  extent: 'hasMore' | 'totalCount',
  extensions = {},
) =>
  builder.objectRef<PageBody<Row>>(name).implement({
    description: `A page of the list of ${records}.`,
    extensions,
    fields: (t) => ({
      [records]: t.expose('data', {
        type: [type],
        nullable: { list: false, items: true },
        description: `The ${records}. If the service sends an invalid one, it is null and has an entry in \`errors\`.`,
      }),
      page: t.exposeInt('page', { description: 'The number of the page, from 0.' }),
      [extent]:
        extent === 'hasMore'
          ? t.exposeBoolean(extent, {
              description: 'Whether there may be a next page. The service says so if this one is full.',
            })
          : t.exposeInt(extent, { description: `The number of ${records} on all pages.` }),
    }),
  });

/** Creates the argument with the number of a page. */
export const pageArg = (arg: ArgBuilder<GraphTypes>) =>
  arg.int({ required: true, defaultValue: 0, description: 'The number of the page, from 0.' });

/** Creates the argument with the size of a page. */
export const sizeArg = (arg: ArgBuilder<GraphTypes>, records: string, max: number) =>
  arg.int({ required: true, defaultValue: 10, description: `The maximum number of ${records}, 1 to ${max}.` });

/** Adds `hasMore` to a page of a version that sends `totalCount` instead. */
export const withHasMore = <Row>(sent: PageBody<Row> | null, page: number, limit: number): PageBody<Row> | null =>
  sent?.totalCount === undefined
    ? sent
    : { ...sent, page, hasMore: sent.hasMore ?? page * limit + sent.data.length < sent.totalCount };

/** Throws BAD_USER_INPUT unless there can be such a page. Its size has the name of its argument. */
export function assertPage({ page, ...size }: { page: number; [name: string]: number }, max: number): void {
  assertRange('page', page, 0, Number.MAX_SAFE_INTEGER);
  for (const [name, value] of Object.entries(size)) {
    assertRange(name, value, 1, max);
  }
}
