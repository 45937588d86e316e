export function publishedManifest(folder: string): Record<string, unknown>;
export function publishedReadme(folder: string): string;
