// Composes pages that the service doesn't have from those that it has: what follows a record, and what has one of many values.

import { badUserInput } from '../../graphql/values.ts';

/** Part of a list, with the newest records first. */
export interface Part<Row> {
  data: Row[];
  hasMore: boolean;
}

/** Reads a page of a list of the service. */
type ReadPart<Row> = (page: number, limit: number) => Promise<Part<Row>>;

/** Record of a list. Invalid ones keep their places. */
type Listed = { _id?: string; id?: string; createdAt?: string } | null | undefined;

/** Maximum values of a list in a query. Some builds of the service take more for an object, and fail (`qs` 6.14.1). */
const MAX_VALUES = 20;

/** Maximum size of a page of the service. */
const MAX_SIZE = 100;

const idOf = (row: Listed) => row?._id ?? row?.id;

/** Splits the values of a query into as many lists as it takes calls. Undefined selects all records. */
export const splitValues = (values: readonly string[] | undefined): (readonly string[] | undefined)[] => {
  const distinct = values && [...new Set(values)];
  return distinct === undefined || distinct.length <= MAX_VALUES
    ? [distinct]
    : Array.from({ length: Math.ceil(distinct.length / MAX_VALUES) }, (_, i) =>
        distinct.slice(i * MAX_VALUES, (i + 1) * MAX_VALUES),
      );
};

/** Creates the function that reads pages of the records that have one of some values. */
export function mergePages<Row extends Listed>(
  values: readonly string[] | undefined,
  read: (page: number, limit: number, values: readonly string[] | undefined) => Promise<Part<Row>>,
): ReadPart<Row> {
  const [first, ...others] = splitValues(values);
  if (others.length === 0) {
    return (page, limit) => read(page, limit, first);
  }
  return async (page, limit) => {
    const end = (page + 1) * limit;
    const readFirst = (some: typeof first) =>
      readOn(
        (next) => read(next, MAX_SIZE, some),
        -1,
        ({ data }) => data.length >= end,
      );
    const parts = await Promise.all([first, ...others].map(readFirst));
    const rows = parts.flatMap(({ data }) => data).sort(byAge);
    return { data: rows.slice(end - limit, end), hasMore: rows.length > end || parts.some((part) => part.hasMore) };
  };
}

const byAge = (a: Listed, b: Listed): number => {
  const [own, other] = [a?.createdAt ?? '', b?.createdAt ?? ''];
  return Number(other > own) - Number(other < own);
};

/** Reads the pages after one, until there are enough records. @param part records up to that page. @default none */
export async function readOn<Row extends Listed>(
  read: (page: number) => Promise<Part<Row>>,
  page: number,
  isEnough: (part: Part<Row>) => boolean,
  part: Part<Row> = { data: [], hasMore: true },
): Promise<Part<Row>> {
  const next = part.hasMore && !isEnough(part) ? await read(page + 1) : undefined;
  return next === undefined ? part : readOn(read, page + 1, isEnough, append(part, next));
}

/** Adds the records of a later page. Records that arrived meanwhile move others there that were on the earlier one. */
function append<Row extends Listed>({ data }: Part<Row>, { data: added, hasMore }: Part<Row>): Part<Row> {
  const known = new Set(data.map(idOf));
  const fresh = added.filter((row) => idOf(row) === undefined || !known.has(idOf(row)));
  return { data: [...data, ...fresh], hasMore: hasMore && added.length > 0 };
}

/**
 * Reads what follows a record, also if the list has changed since it was read. If it hasn't, and `page` is that of the first record that follows, this
 * takes one call.
 *
 * @throws {GraphQLError} BAD_USER_INPUT if the record is not in the list, and its id doesn't tell when it was created
 */
export async function readFollowing<Row extends Listed>(
  read: ReadPart<Row>,
  { page, limit, after }: { page: number; limit: number; after: string },
): Promise<Part<Row>> {
  const { size, number } = findPart(Math.max(page * limit - 1, 0), Math.max(page + 1, 2) * limit);
  let part = await read(number, size);
  if (number > 0 && part.data.length === 0) {
    return readFollowing(read, { page: 0, limit, after }); // The list has become much shorter.
  }
  for (let first = number; first > 0 && startOf(part.data, after) === 0; first -= 1) {
    part = { ...append(await read(first - 1, size), part), hasMore: part.hasMore };
  }
  const isEnough = ({ data }: Part<Row>) => data.length - startOf(data, after) >= limit;
  const { data, hasMore } = await readOn((next) => read(next, size), number, isEnough, part);
  const start = startOf(data, after);
  if (start === data.length && !RECORD_ID.test(after) && !data.some((row) => idOf(row) === after)) {
    throw badUserInput('after is the id of no message of this list. Read the first page again.');
  }
  const end = start + limit;
  return { data: data.slice(start, end), hasMore: hasMore || data.length > end };
}

/** Returns the smallest page that has all records from a position to the one before another, if the service has such a page. */
function findPart(from: number, to: number): { size: number; number: number } {
  let size = Math.min(to - from, MAX_SIZE);
  while (size < MAX_SIZE && Math.floor(from / size) !== Math.floor((to - 1) / size)) {
    size += 1;
  }
  return { size, number: Math.floor(from / size) };
}

/**
 * Returns the position of the first record that follows another one, whether or not that is in the list. If it isn't, records of the same time follow too:
 * it was marked or deleted, as were those before it, and none may be left out.
 */
function startOf(rows: readonly Listed[], after: string): number {
  const position = rows.findIndex((row) => idOf(row) === after);
  const start = position >= 0 ? position + 1 : rows.findIndex((row) => secondsBetween(idOf(row), after) <= 1);
  return start < 0 ? rows.length : start;
}

/** Ids of the service begin with the second of creation. What follows in them is not in the order of the list. */
const RECORD_ID = /^([\da-f]{8})[\da-f]{16}$/i;

/** Returns how many seconds later a record was created than another; NaN if their ids don't tell. */
function secondsBetween(id: string | undefined, other: string): number {
  const [own, earlier] = [id ?? '', other].map((each) => Number.parseInt(RECORD_ID.exec(each)?.[1] ?? '', 16));
  return (own ?? Number.NaN) - (earlier ?? Number.NaN);
}

/** Whether a record was certainly created before another. */
export const isOlder = (id: string | undefined, other: string): boolean => secondsBetween(id, other) < -1;
