const PATHS = {
  conversations: 'M3 4.5h14v9H9l-3.5 3v-3H3z',
  playground: 'M5 4l11 6-11 6z',
  requests: 'M3 6h11l-3-3M17 14H6l3 3',
  faults: 'M11 2L4 11h5l-1 7 7-9h-5z',
  answers: 'M4 4h12v8H9l-3 3v-3H4zM7 7h6M7 9.5h4',
  service: 'M4 4h12v4H4zM4 11h5v5H4zM12 11h4v5h-4z',
  menu: 'M3 5h14M3 10h14M3 15h14',
  close: 'M5 5l10 10M15 5L5 15',
} as const;

/** The name of an icon. */
export type IconName = keyof typeof PATHS;

/** A decorative icon, hidden from screen readers. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
