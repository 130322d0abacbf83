import { Permitted } from '../session/permitted.tsx';
import { View } from '../shell/view.tsx';
import { DeleteMessagesForm } from './delete-messages-form.tsx';

/** The view to delete messages; the service can't list them. */
export function MessagesView() {
  return (
    <View title="Messages" lead="Delete the messages of a transaction, such as a notification sent by mistake.">
      <Permitted scope="messages:write" verb="delete" what="messages">
        <DeleteMessagesForm />
      </Permitted>
    </View>
  );
}
