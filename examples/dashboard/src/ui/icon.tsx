// Shows small drawings beside texts and in buttons.

const PATHS = {
  bell: 'M3 12h10M4.2 12V7a3.8 3.8 0 0 1 7.6 0v5M8 3.2V2M6.8 14h2.4',
  close: 'M4 4l8 8M12 4l-8 8',
  copy: 'M6 5.5V3h7v8h-2.5M3 5.5h7.5V14H3z',
  dark: 'M13 9.6A5.5 5.5 0 0 1 6.4 3 5.5 5.5 0 1 0 13 9.6z',
  delete: 'M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5M7 7v3.5M9 7v3.5',
  light:
    'M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6M8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2M3.4 3.4l.9.9M11.7 11.7l.9.9M12.6 3.4l-.9.9M4.3 11.7l-.9.9',
  system: 'M2.5 3h11v7.5h-11zM8 10.5v2.5M5.5 13h5',
} as const;

export type IconName = keyof typeof PATHS;

/** Screen readers skip it, so it belongs beside a text or in a button that has a name. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
