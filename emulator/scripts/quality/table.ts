/** One line of a table: a name, and numbers under each other. */
export function cells(name: string, ...values: readonly (string | number)[]): string {
  return `  ${name.padEnd(10)}${values.map((value) => String(value).padStart(10)).join('')}`;
}

/** 0.756 as 75.6 %. */
export function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

/** A bar of a share (0 to 1) of the width. */
export function bar(share: number, width = 40): string {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * width);
  return '█'.repeat(filled) + '░'.repeat(width - filled);
}

export function print(line = ''): void {
  process.stdout.write(`${line}\n`);
}
