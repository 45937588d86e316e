/**
 * Gives time to what must not happen, or cannot be observed. A slow machine makes such a test weaker, and never red. The only
 * sleep of `npm test`.
 */
export const giveTime = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
