import type { ProgressListener, Upload } from '../engine.js';
import { estimatedParts } from './file.js';

/** A body that is there as a whole: a form that the platform writes, or bytes with their type. */
export function wholeUpload(
  content: Blob | FormData,
  contentType: string | undefined,
  size = (content as Blob).size,
  listener: ProgressListener = () => {},
): Upload {
  const bytes = async function* () {
    yield new Uint8Array(await (content as Blob).arrayBuffer());
  };
  return {
    contentType,
    repeatable: true,
    body: (onProgress) => ({
      size,
      bytesSent: 0,
      asBlob: () => {
        listener(0, size);
        onProgress(estimatedParts(size));
        return content;
      },
      onBlobSent() {
        Object.assign(this, { bytesSent: size });
        onProgress();
        listener(size, size);
      },
      ...(content instanceof Blob && { open: bytes }),
      cancel: () => {},
    }),
    cancel: () => {},
  };
}
