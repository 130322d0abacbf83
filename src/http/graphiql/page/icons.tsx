/** Returns a component for an icon, which is decoration next to a text or a label. */
const icon = (path: string) =>
  function Icon() {
    return (
      <svg className="icon" viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
        <path d={path} />
      </svg>
    );
  };

export const PlayIcon = icon('M4 2v12l10-6z');
export const StopIcon = icon('M3 3h10v10H3z');
export const ChevronIcon = icon('m3 6 5 5 5-5-1.2-1.2L8 8.6 4.2 4.8z');
export const CloseIcon = icon('m4 3 4 4 4-4 1 1-4 4 4 4-1 1-4-4-4 4-1-1 4-4-4-4z');
export const PlusIcon = icon('M7.25 3h1.5v4.25H13v1.5H8.75V13h-1.5V8.75H3v-1.5h4.25z');
