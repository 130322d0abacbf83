import type { Channel } from '../documents.gen.ts';
import { CHANNEL_NAMES, CHANNELS } from './day.ts';

/** The channels of something, each as a small label. */
export function ChannelTags({ channels }: { channels: readonly Channel[] }) {
  return (
    <span className="tags">
      {CHANNELS.filter((channel) => channels.includes(channel)).map((channel) => (
        <span key={channel} className="tag">
          {CHANNEL_NAMES[channel]}
        </span>
      ))}
    </span>
  );
}
