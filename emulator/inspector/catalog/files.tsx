import { useState } from 'preact/hooks';
import type { FileRecord } from '../../src/index.js';
import { ActionButton, DeleteButton } from '../parts/action.js';
import { Card, Title } from '../parts/card.js';
import { Code } from '../parts/code.js';
import { Item, LoadedRecords } from '../parts/records.js';
import { linkTo } from '../service/router.js';
import { count, dateAndTime } from '../service/words.js';

/** What the emulator adds to a file's record. */
type ShownFile = FileRecord & { contentType: string; requestId?: string };

/** The uploaded files. */
export function FilesView() {
  return (
    <>
      <Title name="Files">What programs have uploaded.</Title>
      <Card title="Uploaded">
        <LoadedRecords<ShownFile>
          path="/files"
          topics={['files']}
          id="files"
          empty={
            <>
              No files yet. A program uploads one with <code>gateway.files.upload</code>.
            </>
          }
        >
          {(file) => <FileItem key={file.id} file={file} />}
        </LoadedRecords>
      </Card>
    </>
  );
}

function FileItem({ file }: { file: ShownFile }) {
  const { id, filename, purpose, bytes, created_at, contentType, requestId } = file;
  const path = `/files/${encodeURIComponent(id)}`;
  const [preview, setPreview] = useState<string>();
  const show = async (): Promise<void> => setPreview(preview === undefined ? await beginningOf(path) : undefined);
  const verb = preview === undefined ? 'Preview' : 'Hide';
  const date = dateAndTime(new Date(created_at * 1000).toISOString());
  return (
    <Item
      name={<strong>{filename}</strong>}
      note={`${count(bytes)} bytes · ${contentType} · ${purpose} · ${date} UTC · ${id}`}
      actions={
        <>
          <ActionButton kind="quiet" label={`${verb} ${filename}`} act={show}>
            {verb}
          </ActionButton>
          {requestId !== undefined && (
            <a class="button quiet" href={linkTo('requests', requestId)}>
              Request
            </a>
          )}
          <a class="button quiet" href={`/_emulator${path}/content`} download={filename}>
            Download
          </a>
          <DeleteButton name={filename} path={path} />
        </>
      }
    >
      {preview !== undefined && (
        <>
          <Code label={`Content of ${filename}`} text={preview} />
          {bytes > SHOWN && <p class="soft">The first {count(SHOWN)} bytes.</p>}
        </>
      )}
    </Item>
  );
}

const SHOWN = 4096;

/** The first bytes of a file as text, or as hexadecimal numbers if they are none. */
async function beginningOf(path: string): Promise<string> {
  const response = await fetch(`/_emulator${path}/content?bytes=${SHOWN}`);
  if (!response.ok) throw new Error(`The emulator responded with ${response.status}.`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  // A character at the end may be cut.
  const text = new TextDecoder().decode(bytes, { stream: true });
  if (!/[\u0000-\u0008\u000e-\u001f\ufffd]/.test(text)) return text;
  return [...bytes.subarray(0, 256)].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
}
