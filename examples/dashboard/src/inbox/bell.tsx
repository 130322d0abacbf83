// Shows the button that opens the inbox of the signed-in person, with the number of new messages.

import { Button } from 'react-aria-components/Button';
import { DialogTrigger } from 'react-aria-components/Dialog';
import { Popover } from 'react-aria-components/Popover';
import { useQuery } from 'urql';
import { UnseenMessagesDocument } from '../documents.gen.ts';
import { useKept } from '../shell/use-kept.ts';
import { Icon } from '../ui/icon.tsx';
import { InboxDialog } from './inbox-dialog.tsx';
import { usePolling } from './use-polling.ts';

/** If a poll fails, the last number stays. */
export function Bell() {
  const [{ data }, execute] = useQuery({ query: UnseenMessagesDocument });
  const unseen = useKept(data?.inbox?.unseen);
  usePolling(() => execute({ requestPolicy: 'network-only' }));
  const badge = unseen === undefined || unseen.count === 0 ? undefined : unseen.isMore ? '99+' : String(unseen.count);
  return (
    <>
      <DialogTrigger>
        <Button className="icon-button bell" aria-label={`Notifications${badge === undefined ? '' : `, ${badge} new`}`}>
          <Icon name="bell" />
          {badge !== undefined && <span className="bell-badge">{badge}</span>}
        </Button>
        {/* biome-ignore lint/a11y/useValidAriaValues: removes the name that the trigger gives to it, because the dialog in it has one */}
        <Popover className="popover inbox-popover" placement="bottom end" aria-labelledby="">
          <InboxDialog />
        </Popover>
      </DialogTrigger>
      <span className="visually-hidden" role="status">
        {badge !== undefined && `${badge} new ${badge === '1' ? 'notification' : 'notifications'}`}
      </span>
    </>
  );
}
