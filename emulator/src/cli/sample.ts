import type { Emulator } from '../emulator.js';

/** Adds a small sample conversation with the id `conv_sample`. */
export function addSampleConversation(emulator: Emulator): void {
  emulator.conversations.create({
    id: 'conv_sample',
    messages: SAMPLE.map(([role, content], i) => ({ id: `msg_sample_${i + 1}`, role, content })),
  });
}

const SAMPLE: readonly ['user' | 'assistant', string][] = [
  [
    'user',
    'Our goal is to replace the old invoice export before the end of the quarter. It fails for large customers.',
  ],
  ['assistant', 'Understood. How large is the largest export, and where does it run today?'],
  ['user', 'About 40 GB, as a nightly job. The script is in jobs/export.py, and the failures are tracked in BILL-212.'],
  ['assistant', 'Then memory is the likely cause: the script reads everything before it writes the first line.'],
  ['user', 'Every export must be finished by six in the morning, and it must never contain the data of two customers.'],
  ['assistant', 'Should we write CSV or Parquet for the new export?'],
  ['user', 'We decided to write Parquet because the finance team loads it directly.'],
  ['assistant', 'Noted. A manifest means the list of files of one export with their checksums; I would add one.'],
  ['user', 'Yes. The format is described at https://docs.example.com/exports/manifest and we agreed to follow it.'],
  ['assistant', 'Which customers do we move to the new export first?'],
  ['user', 'That is still to be decided. Next step: you prepare a dry run for three small customers by Friday.'],
  ['assistant', 'I will run `python jobs/export.py --dry-run` for them and report what it would write.'],
];
