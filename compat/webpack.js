import webpack from 'webpack';

/** Bundles for production, and rejects if there is an error or a warning. */
export function runWebpack(options) {
  return new Promise((resolve, reject) => {
    webpack({ mode: 'production', performance: false, ...options }, (error, stats) => {
      if (error === null && !stats.hasErrors() && !stats.hasWarnings()) resolve();
      else reject(error ?? new Error(stats.toString('errors-warnings')));
    });
  });
}
