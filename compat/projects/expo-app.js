/** An app of Expo, which reads completions through Expo's own `fetch`. */
import { GatewayClient } from 'context-gateway';
import { registerRootComponent } from 'expo';
import { fetch } from 'expo/fetch';
import { createElement, useEffect, useState } from 'react';
import { Text } from 'react-native';

const gateway = new GatewayClient({ baseURL: 'https://gateway.example.com', apiKey: 'svc_pk_example', fetch });

function App() {
  const [text, setText] = useState('');
  useEffect(() => {
    const show = async () => {
      const messages = [{ role: 'user', content: 'Hello' }];
      const stream = await gateway.chat.completions.create({ model: 'atlas-small', messages, stream: true });
      for await (const piece of stream.textStream) setText((shown) => shown + piece);
    };
    show().catch(({ message }) => setText(message));
  }, []);
  return createElement(Text, null, text);
}

registerRootComponent(App);
