// Says which part of a list is shown, and links to the pages beside it.

interface PageLinksProps {
  /** Number of the first shown item, from 1, and of the shown ones. */
  first: number;
  count: number;
  /** Number of all items. @default unknown */
  total?: number;
  /** Addresses of the pages before and after. */
  previous: string | undefined;
  next: string | undefined;
}

export function PageLinks({ first, count, total, previous, next }: PageLinksProps) {
  return (
    <nav className="page-links" aria-label="Pages">
      <p className="muted" role="status">
        {count === 1 ? first : `${first}–${first + count - 1}`}
        {total !== undefined && ` of ${total}`}
      </p>
      {previous !== undefined && (
        <a className="button" href={previous}>
          Previous
        </a>
      )}
      {next !== undefined && (
        <a className="button" href={next}>
          Next
        </a>
      )}
    </nav>
  );
}
