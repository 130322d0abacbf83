// Buttons, panels and icons.

import {
  type ComponentProps,
  type ComponentType,
  type KeyboardEvent,
  type ReactNode,
  type SVGProps,
  useEffect,
  useId,
  useState,
} from 'react';

type Icon = ComponentType<SVGProps<SVGSVGElement>>;

export const IconButton = ({
  name,
  icon: Icon,
  shortcut,
  className = '',
  ...others
}: ComponentProps<'button'> & { name: string; icon: Icon; shortcut?: string }) => (
  <button
    type="button"
    className={`icon ${className}`}
    aria-label={name}
    title={shortcut === undefined ? name : `${name} (${shortcut})`}
    {...others}
  >
    <Icon aria-hidden="true" />
  </button>
);

/**
 * Button and the panel that it opens. The browser closes the panel when the visitor presses Escape or clicks elsewhere.
 *
 * @param icon icon of the button. @default its name
 */
export function Popup({
  name,
  icon,
  className = '',
  ...others
}: ComponentProps<'div'> & { name: string; icon?: Icon }) {
  const id = useId();
  return (
    <>
      {icon === undefined ? (
        <button type="button" popoverTarget={id}>
          {name}
        </button>
      ) : (
        <IconButton name={name} icon={icon} popoverTarget={id} />
      )}
      <div id={id} popover="auto" role="dialog" aria-label={name} className={`popup ${className}`} {...others} />
    </>
  );
}

/**
 * Moves the focus with the arrow keys among a filter and the buttons of its matches.
 *
 * @param chooseFirst called if Enter is pressed in the filter
 */
export function moveFocus(event: KeyboardEvent<HTMLElement>, chooseFirst: () => void): void {
  const controls = [...event.currentTarget.querySelectorAll<HTMLElement>('input, button')];
  const index = event.target instanceof HTMLElement ? controls.indexOf(event.target) : -1;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step !== undefined) {
    event.preventDefault();
    controls[index + step]?.focus();
  } else if (event.key === 'Enter' && index === 0) {
    event.preventDefault(); // The key would press the button that gets the focus.
    chooseFirst();
  }
}

/**
 * Lists items as buttons, in groups with titles. Groups without items are left out.
 *
 * @param labelOf content of an item's button. @default its name
 */
export function Choices<Item extends { name: string }>({
  groups,
  choose,
  labelOf = ({ name }) => name,
}: {
  groups: Readonly<Record<string, readonly Item[]>>;
  choose(item: Item): void;
  labelOf?(item: Item): ReactNode;
}) {
  return Object.entries(groups).map(
    ([title, items]) =>
      items.length > 0 && (
        <section key={title} className="choices">
          <h2>{title}</h2>
          <ul>
            {items.map((item) => (
              <li key={item.name}>
                <button type="button" onClick={() => choose(item)}>
                  {labelOf(item)}
                </button>
              </li>
            ))}
          </ul>
        </section>
      ),
  );
}

const RESULT_MS = 5_000;

/** Sentence about what was copied last, with the functions that copy a text and that show another sentence. */
export function useCopy() {
  const [result, report] = useState('');
  useEffect(() => {
    const timer = result === '' ? undefined : setTimeout(() => report(''), RESULT_MS);
    return () => clearTimeout(timer);
  }, [result]);
  const copy = (text: string, hint = ''): void =>
    void navigator.clipboard.writeText(text).then(
      () => report(`Copied. ${hint}`),
      () => report('Your browser does not permit copying.'),
    );
  return { result, copy, report };
}

const iconOf = (path: string) => () => (
  <svg viewBox="0 0 16 16" height="1em" fill="none" stroke="currentColor" strokeLinecap="round" aria-hidden="true">
    <path d={path} />
  </svg>
);

export const LinkIcon = iconOf(
  'M6.5 9.5l3-3M7 4.8l1.4-1.4a2.9 2.9 0 0 1 4.2 4.2L11.2 9M9 11.2l-1.4 1.4a2.9 2.9 0 0 1-4.2-4.2L4.8 7',
);

/** Icons of the themes: a half disk, a sun and a moon. */
export const THEME_ICONS = {
  system: iconOf('M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2v12M10.5 3v10M13 5v6'),
  light: iconOf(
    'M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1',
  ),
  dark: iconOf('M13.5 10A6 6 0 0 1 6 2.5a6 6 0 1 0 7.5 7.5z'),
};
