const FIGURES = ['Notifications', 'Average day', 'Busiest day', 'Channels used'];

/** A placeholder for the statistics while they are loaded. The chart appears in its place. */
export function StatisticsSkeleton() {
  return (
    <div className="statistics" role="status">
      <span className="visually-hidden">Loading statistics…</span>
      <div className="figures" aria-hidden="true">
        {FIGURES.map((figure) => (
          <div key={figure}>
            <span className="skeleton-row" />
          </div>
        ))}
      </div>
      <div className="statistics-columns" aria-hidden="true">
        <div className="card">
          <div className="card-head">
            <span className="skeleton-row title-skeleton" />
          </div>
          <div className="skeleton-row chart-skeleton" />
        </div>
        <div className="card">
          <div className="card-head">
            <span className="skeleton-row title-skeleton" />
          </div>
          <div className="skeleton-row" />
        </div>
      </div>
    </div>
  );
}
