import { ROUTES, type RouteName } from './routes.ts';

/** Links to the views. */
export function Navigation({ route }: { route: RouteName }) {
  return (
    <nav className="navigation" aria-label="Views">
      <ul>
        {ROUTES.map(({ name, label }) => (
          <li key={name}>
            <a href={`#/${name}`} aria-current={name === route ? 'page' : undefined} data-label={label}>
              {label}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
