'use client';

import { GatewayClient } from 'context-gateway';
import { useEffect, useState } from 'react';
import { ask } from './actions.js';
import { streamedText } from './question.js';

/** Asks through a server action, through the edge route and from the page, and shows the answers. */
export function Answers() {
  const [answers, setAnswers] = useState();
  useEffect(() => {
    const { baseURL, apiKey } = Object.fromEntries(new URL(location.href).searchParams);
    const asked = [
      ask(),
      fetch('/kinds/edge').then((response) => response.text()),
      streamedText(new GatewayClient({ baseURL, apiKey })),
    ];
    Promise.all(asked).then(setAnswers, (error) => setAnswers([String(error)]));
  }, []);
  return answers && <pre>{JSON.stringify(answers)}</pre>;
}
