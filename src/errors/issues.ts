/** Where a value is not what it has to be. `path` leads to the field; the value itself is never repeated. */
export interface ValidationIssue {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Issues that are looked for, kept and printed at the most. Where there are so many, there may be more. */
export const MAX_ISSUES = 50;
/** Of each: the steps of its path, and the characters of a step and of its message. */
const MAX_STEPS = 16;
const MAX_KEY = 100;
const MAX_WORDS = 500;

/** As much of issues as an error keeps: an answer with half a million mistakes must not become megabytes of a log. */
export function boundIssues(issues: readonly ValidationIssue[]): readonly ValidationIssue[] {
  return issues.slice(0, MAX_ISSUES).map(({ path, message }) => {
    const steps = path.slice(0, MAX_STEPS).map((key) => (typeof key === 'string' ? cut(key, MAX_KEY) : key));
    return { path: path.length > MAX_STEPS ? [...steps, '…'] : steps, message: cut(message, MAX_WORDS) };
  });
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** One line for people: the first issues with their paths. */
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
