'use client';

import { GatewayClient } from 'context-gateway';
import { useEffect } from 'react';
import { ask } from './actions.js';
import { streamedText } from './question.js';

/** Asks through a server action, through the edge route and from the page, and writes the answers into the title. */
export function Answers() {
  useEffect(() => {
    const { baseURL, apiKey } = Object.fromEntries(new URL(location.href).searchParams);
    const answers = [
      ask(),
      fetch('/edge').then((response) => response.text()),
      streamedText(new GatewayClient({ baseURL, apiKey })),
    ];
    Promise.all(answers).then(
      ([action, edge, client]) => {
        document.title = JSON.stringify({ action, edge, client });
      },
      (error) => {
        document.title = String(error);
      },
    );
  }, []);
  return null;
}
