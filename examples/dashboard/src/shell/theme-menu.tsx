// Shows the button that opens the choice of a theme.

import { Button } from 'react-aria-components/Button';
import { Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components/Menu';
import { useApp } from '../app-context.ts';
import { useStore } from '../store.ts';
import { Icon } from '../ui/icon.tsx';
import { THEMES, type Theme } from './theme.ts';

const LABELS: Readonly<Record<Theme, string>> = { system: 'Same as system', light: 'Light', dark: 'Dark' };

export function ThemeMenu() {
  const { theme: store } = useApp();
  const theme = useStore(store);
  return (
    <MenuTrigger>
      <Button className="icon-button" aria-label={`Theme: ${LABELS[theme]}`}>
        <Icon name={theme} />
      </Button>
      <Popover className="popover" placement="bottom end">
        <Menu
          className="menu"
          aria-label="Theme"
          selectionMode="single"
          disallowEmptySelection
          selectedKeys={[theme]}
          onAction={(key) => store.set(THEMES.find((candidate) => candidate === key) ?? 'system')}
        >
          {THEMES.map((name) => (
            <MenuItem key={name} id={name} className="menu-item" textValue={LABELS[name]}>
              <Icon name={name} />
              {LABELS[name]}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
