/** One invalid value. `path` leads to the field. The value itself is never included. */
export type ValidationIssue = {
  readonly path: readonly (string | number)[];
  readonly message: string;
};

/** The most issues that are collected, kept and printed. With exactly this many, there may be more. */
export const MAX_ISSUES = 50;
/** Limits for each issue: steps of its path, characters of a step, characters of its message. */
const MAX_STEPS = 16;
const MAX_KEY = 100;
const MAX_MESSAGE = 500;

/** Cuts issues to these limits: a response with half a million mistakes must not become megabytes of log. */
export function boundIssues(issues: readonly ValidationIssue[]): readonly ValidationIssue[] {
  return issues.slice(0, MAX_ISSUES).map(({ path, message }) => {
    const steps = path.slice(0, MAX_STEPS).map((key) => (typeof key === 'string' ? cut(key, MAX_KEY) : key));
    return { path: path.length > MAX_STEPS ? [...steps, '…'] : steps, message: cut(message, MAX_MESSAGE) };
  });
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** The first issues with their paths, in one line. */
export function describeIssues(issues: readonly ValidationIssue[]): string {
  const shown = boundIssues(issues.slice(0, 5)).map(({ path, message }) => `${describePath(path)}${message}`);
  const rest = issues.length - shown.length;
  const text = shown.join('; ');
  if (rest > 0) return `${text}; and ${issues.length < MAX_ISSUES ? `${rest} ` : ''}more.`;
  return text.replace(/[^?]$/, '$&.');
}

function describePath(path: ValidationIssue['path']): string {
  if (path.length === 0) return '';
  return `${path.map((key, at) => (typeof key === 'number' ? `[${key}]` : at === 0 ? key : `.${key}`)).join('')}: `;
}
