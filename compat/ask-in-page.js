/** Asks a question in the page of `examples/apps/no-bundler`. Runs in the page, so it uses nothing from outside. */
export async function askInPage(question) {
  const blocked = [];
  document.addEventListener('securitypolicyviolation', ({ blockedURI }) => blocked.push(blockedURI));
  const form = document.querySelector('form');
  const isReady = async () => {
    while (form.ariaBusy === 'true') await new Promise((resolve) => setTimeout(resolve, 20));
  };
  await isReady();
  form.question.value = question;
  form.requestSubmit();
  await isReady();
  return { reply: document.querySelector('p').textContent, blocked };
}
