// Shows the sent messages, to find out whether one arrived.

import { Permitted, ReadOnlyNote, useRefusal } from '../session/permitted.tsx';
import { useRouteParam } from '../shell/routes.ts';
import { View } from '../shell/view.tsx';
import { FindMessages } from './find-messages.tsx';
import { type MessageFilter, messagesAddress, toChannel } from './message-address.ts';
import { MessageList } from './message-list.tsx';

export function MessagesView() {
  return (
    <View title="Messages" lead="Find out whether a message arrived, and delete those sent by mistake.">
      <Permitted scope="messages:read" what="messages">
        <Messages />
      </Permitted>
    </View>
  );
}

function Messages() {
  const refusal = useRefusal('messages:write');
  const filter: MessageFilter = {
    transaction: useRouteParam('transaction') ?? '',
    subscriber: useRouteParam('subscriber') ?? '',
    channel: toChannel(useRouteParam('channel')),
  };
  const page = Math.max(1, Math.trunc(Number(useRouteParam('page'))) || 1);
  return (
    <>
      <ReadOnlyNote refusal={refusal} />
      <FindMessages filter={filter} />
      <MessageList key={messagesAddress(filter, page)} filter={filter} page={page} refusal={refusal} />
    </>
  );
}
