// Shows the app's mark and name.

export function Brand() {
  return (
    <p className="brand">
      <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
        <rect width="32" height="32" rx="8" className="brand-tile" />
        <path d="M9 21v-6M16 21V10M23 21v-3" className="brand-bars" />
      </svg>
      <span>Notigraph dashboard</span>
    </p>
  );
}
