// Tables and endpoints of topics.

import type { Environment } from '../environments.ts';
import { ApiError } from '../errors.ts';
import { createId } from '../ids.ts';
import type { Resource } from '../resource.ts';
import { bareResponse, dataResponse, emptyResponse } from '../response.ts';
import { integer, json, optionalText, type Row, readPage, requireRow, text } from '../rows.ts';

/** Topics: lists of subscribers that are notified together. */
export const resource: Resource = {
  schema: `
    CREATE TABLE topics (
      id TEXT PRIMARY KEY,
      environment_id TEXT NOT NULL,
      key TEXT NOT NULL,
      name TEXT NOT NULL,
      UNIQUE (environment_id, key)
    ) STRICT;
    CREATE TABLE topic_subscribers (
      topic_id TEXT NOT NULL,
      subscriber_id TEXT NOT NULL,
      PRIMARY KEY (topic_id, subscriber_id)
    ) STRICT;
  `,

  recordList: {
    title: 'Topics',
    sql: 'SELECT key AS id, name AS label FROM topics WHERE environment_id = ? ORDER BY rowid LIMIT 100',
  },

  createHandlers(database, clock) {
    const insert = database.prepare('INSERT INTO topics (id, environment_id, key, name) VALUES (?, ?, ?, ?)');
    const columns = `
      id, key, name,
      (SELECT json_group_array(subscriber_id) FROM topic_subscribers WHERE topic_id = topics.id) AS subscribers
    `;
    const findByKey = database.prepare(`SELECT ${columns} FROM topics WHERE environment_id = ? AND key = ?`);
    const filter = 'FROM topics WHERE environment_id = :environment AND (:key IS NULL OR key = :key)';
    const count = database.prepare(`SELECT count(*) AS total ${filter}`);
    const list = database.prepare(`SELECT ${columns} ${filter} ORDER BY rowid LIMIT :limit OFFSET :offset`);
    const rename = database.prepare('UPDATE topics SET name = ? WHERE id = ?');
    const remove = database.prepare('DELETE FROM topics WHERE id = ?');
    const findSubscriber = database.prepare('SELECT 1 FROM subscribers WHERE environment_id = ? AND subscriber_id = ?');
    const addSubscriber = database.prepare(
      'INSERT OR IGNORE INTO topic_subscribers (topic_id, subscriber_id) VALUES (?, ?)',
    );
    const removeSubscriber = database.prepare('DELETE FROM topic_subscribers WHERE topic_id = ? AND subscriber_id = ?');

    function find(environment: Environment, params: Row): Row {
      const key = text(params, 'topicKey');
      return requireRow(findByKey.get(environment.id, key), 'topic with the key', key);
    }

    return {
      createTopic({ environment, body }) {
        const key = text(body, 'key');
        if (findByKey.get(environment.id, key) !== undefined) {
          throw new ApiError(409, `A topic with the key "${key}" already exists.`);
        }
        const id = createId(clock());
        insert.run(id, environment.id, key, text(body, 'name'));
        return dataResponse(201, { _id: id, key });
      },

      listTopics({ environment, query }) {
        const { page, size: pageSize, limit, offset } = readPage(query.page, query.pageSize);
        const selected = { environment: environment.id, key: optionalText(query, 'key') };
        return bareResponse(200, {
          page,
          pageSize,
          totalCount: integer(count.get(selected) ?? {}, 'total'),
          data: list.all({ ...selected, limit, offset }).map((row) => toTopic(environment, row)),
        });
      },

      getTopic: ({ environment, params }) => dataResponse(200, toTopic(environment, find(environment, params))),

      renameTopic({ environment, params, body }) {
        const row = find(environment, params);
        const name = text(body, 'name');
        rename.run(name, text(row, 'id'));
        return dataResponse(200, toTopic(environment, { ...row, name }));
      },

      deleteTopic({ environment, params }) {
        const row = find(environment, params);
        if (subscribersOf(row).length > 0) {
          throw new ApiError(409, `The topic "${text(row, 'key')}" has subscribers. Remove them first.`);
        }
        remove.run(text(row, 'id'));
        return emptyResponse();
      },

      addTopicSubscribers({ environment, params, body }) {
        const id = text(find(environment, params), 'id');
        const isKnown = (subscriberId: string) => findSubscriber.get(environment.id, subscriberId) !== undefined;
        const { succeeded = [], notFound = [] } = Object.groupBy(idsIn(body), (subscriberId) =>
          isKnown(subscriberId) ? 'succeeded' : 'notFound',
        );
        for (const subscriberId of succeeded) {
          addSubscriber.run(id, subscriberId);
        }
        return dataResponse(200, { succeeded, failed: { notFound } });
      },

      removeTopicSubscribers({ environment, params, body }) {
        const id = text(find(environment, params), 'id');
        for (const subscriberId of idsIn(body)) {
          removeSubscriber.run(id, subscriberId);
        }
        return emptyResponse();
      },
    };
  },
};

const idsIn = (body: Row): string[] => [...new Set([body.subscribers].flat().map(String))];

const subscribersOf = (row: Row): unknown[] => [json(row, 'subscribers')].flat();

const toTopic = (environment: Environment, row: Row) => ({
  _id: text(row, 'id'),
  key: text(row, 'key'),
  name: text(row, 'name'),
  subscribers: subscribersOf(row),
  ...environment.owner,
});
