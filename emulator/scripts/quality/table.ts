/** One line of a table: a name and aligned values. */
export function cells(name: string, ...values: readonly (string | number)[]): string {
  return `  ${name.padEnd(16)}${values.map((value) => String(value).padStart(11)).join('')}`;
}

/** Formats 0.756 as `75.6 %`. */
export function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

export function print(line = ''): void {
  process.stdout.write(`${line}\n`);
}
