import { useEffect, useRef } from 'react';
import { CloseIcon, PlusIcon } from './icons.tsx';
import { toTitle } from './to-title.ts';
import { useTabs } from './use-tabs.ts';

/** Row of tabs. It scrolls if there are more than fit. */
export function TabBar() {
  const { tabs, activeTabIndex, change, close, add } = useTabs();
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    list.current?.children[activeTabIndex]?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [activeTabIndex]);
  return (
    <nav className="tabs" aria-label="Open operations">
      <ul ref={list}>
        {tabs.map(({ id, title }, index) => (
          <li key={id} className={index === activeTabIndex ? 'active' : undefined}>
            <button type="button" className="tab" aria-current={index === activeTabIndex} onClick={() => change(index)}>
              {toTitle(title)}
            </button>
            {tabs.length > 1 && (
              <button
                type="button"
                className="close"
                aria-label={`Close ${toTitle(title)}`}
                onClick={() => close(index)}
              >
                <CloseIcon />
              </button>
            )}
          </li>
        ))}
      </ul>
      <button type="button" className="add" aria-label="New tab" title="New tab" onClick={add}>
        <PlusIcon />
      </button>
    </nav>
  );
}
