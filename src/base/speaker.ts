/** The name of a speaker. A role is no name: nobody is quoted as the model by being called "assistant". */
export function speakerOf({ name = '' }: { name?: string | undefined }): string | undefined {
  const speaker = name.replace(/[\][\s]+/g, ' ').trim();
  return speaker === '' || /^(?:user|assistant|system|summary)$/i.test(speaker) ? undefined : speaker;
}
