import type { FileRecord } from '../../src/index.js';
import { Card, Empty, ErrorLine, Title } from '../parts/card.js';
import { ask } from '../service/control.js';
import { useLoaded } from '../service/use-loaded.js';
import { count, dateAndTime } from '../service/words.js';

/** The uploaded files. */
export function FilesView() {
  const { data, error } = useLoaded('files', () => ask<FileRecord[]>('GET', '/files'), ['files']);
  return (
    <>
      <Title name="Files">What programs have uploaded.</Title>
      <ErrorLine>{error}</ErrorLine>
      <Card title="Uploaded">
        {data?.length === 0 && (
          <Empty>
            No files yet. A program uploads one with <code>gateway.files.upload</code>.
          </Empty>
        )}
        <ul class="records" id="files">
          {data?.map(({ id, filename, purpose, bytes, created_at }) => (
            <li key={id}>
              <span class="grow">
                <strong>{filename}</strong>
                <small class="soft">
                  {count(bytes)} bytes · {purpose} · {dateAndTime(new Date(created_at * 1000).toISOString())} UTC · {id}
                </small>
              </span>
              <a class="button" href={`/_emulator/files/${encodeURIComponent(id)}/content`} download={filename}>
                Download
              </a>
            </li>
          ))}
        </ul>
      </Card>
    </>
  );
}
