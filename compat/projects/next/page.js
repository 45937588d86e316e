import { Answers } from './answers.js';

export default function Page() {
  return <Answers />;
}
