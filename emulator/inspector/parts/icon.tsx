const PATHS = {
  conversations: 'M3 4.5h14v9H9l-3.5 3v-3H3z',
  playground: 'M5 4l11 6-11 6z',
  requests: 'M3 6h11l-3-3M17 14H6l3 3',
  memory: 'M5 3h10v14l-5-3.5L5 17z',
  usage: 'M4 17V9M10 17V3M16 17v-6',
  faults: 'M11 2L4 11h5l-1 7 7-9h-5z',
  keys: 'M8 12a4 4 0 1 1 2.8-6.8A4 4 0 0 1 8 12zm2.8-1.2L17 17m-3-3l2-2',
  system: 'M10 3v7l4 3M10 18a8 8 0 1 0 0-16 8 8 0 0 0 0 16z',
  answers: 'M4 4h12v8H9l-3 3v-3H4zM7 7h6M7 9.5h4',
  presets: 'M4 4h12v4H4zM4 11h5v5H4zM12 11h4v5h-4z',
  files: 'M5 3h7l3 3v11H5zM12 3v3h3',
  people: 'M7 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2 17c0-4 10-4 10 0M13 4a3 3 0 0 1 0 5M14 12c3 0 4 2 4 5',
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
