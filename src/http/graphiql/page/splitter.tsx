import { useGraphiQL } from '@graphiql/react';
import { useState } from 'react';

/** Steps of the arrow keys, in percent. */
const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -5, ArrowRight: 5 };

const clamp = (share: number): number => Math.min(80, Math.max(20, Math.round(share)));

/** Returns the width of the request, in percent, and a function that changes and stores it. */
export function useShare(): [share: number, setShare: (share: number) => void] {
  const storage = useGraphiQL((state) => state.storage);
  const [share, setShare] = useState(() => clamp(Number(storage.get('editorShare')) || 50));
  return [
    share,
    (next) => {
      setShare(clamp(next));
      storage.set('editorShare', String(clamp(next)));
    },
  ];
}

/** Options of the splitter. */
interface SplitterProps {
  share: number;
  onMove(share: number): void;
}

/** Divider between request and response. Moves with the pointer and the arrow keys. */
export function Splitter({ share, onMove }: SplitterProps) {
  return (
    <hr
      className="splitter"
      tabIndex={0}
      aria-label="Width of the request"
      aria-orientation="vertical"
      aria-valuenow={share}
      aria-valuemin={20}
      aria-valuemax={80}
      onKeyDown={({ key }) => STEPS[key] && onMove(share + STEPS[key])}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={({ currentTarget: splitter, pointerId, clientX }) => {
        const left = splitter.previousElementSibling?.getBoundingClientRect().left;
        const right = splitter.nextElementSibling?.getBoundingClientRect().right;
        if (left !== undefined && right !== undefined && splitter.hasPointerCapture(pointerId)) {
          onMove(((clientX - left) / (right - left)) * 100);
        }
      }}
    />
  );
}
