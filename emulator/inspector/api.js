/** Ask the control plane; an error says what it answered. */
export async function ask(method, path, body) {
  const json =
    body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(`/_emulator${path}`, { method, ...json });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error ?? `${response.status}`);
  return answer;
}
