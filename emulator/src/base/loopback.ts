/** Whether a host (with or without a port) or an address refers to this machine. */
export function isLoopback(host: string): boolean {
  if (host === '::1') return true;
  const name = host
    .toLowerCase()
    .replace(/^::ffff:/, '')
    .replace(/:\d+$/, '');
  return name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(name);
}
