/**
 * The part of zod that is used here, as `#zod`. Node's build bundles it into one file, because `zod/mini` as installed loads 92;
 * everywhere else `#zod` is `zod/mini` itself, so that a page's own zod is shared (see `imports` in package.json).
 */
export {
  array,
  boolean,
  compile,
  custom,
  int,
  literal,
  looseObject,
  maximum,
  maxLength,
  minimum,
  minLength,
  never,
  nullable,
  number,
  optional,
  record,
  regex,
  safeParse,
  strictObject,
  string,
  unknown,
  validate,
} from 'zod/mini';
