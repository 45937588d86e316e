/**
 * Loaded with `--import` before tsx: replaces code of the conversation as it is loaded, as the environment variable
 * PATCHES says. So the ablation needs no switch in the product.
 */
import { register } from 'node:module';

if (!import.meta.url.includes('hooks')) register(`${import.meta.url}?hooks`);

const patches = JSON.parse(process.env.PATCHES ?? '[]');

export async function load(url, context, next) {
  const result = await next(url, context);
  const own = patches.filter(({ file }) => new URL(url).pathname.endsWith(`/src/conversation/${file}.ts`));
  if (own.length === 0) return result;
  let source = Buffer.from(result.source).toString();
  for (const { file, from, to } of own) {
    if (!source.includes(from)) throw new Error(`${file} does not contain ${from}`);
    source = source.replace(from, to);
  }
  return { ...result, source };
}
