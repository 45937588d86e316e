/** Texts of every kind that people paste into a chat, written for the token estimate. */
export const CORPUS: Readonly<Record<string, readonly string[]>> = {
  English: [
    'We agreed that the night ferry keeps its old timetable until the new ramp is finished. Nobody should have to wait longer than twenty minutes, and the crew needs to know about every change before noon.',
    'Unquestionably, interdisciplinary collaboration presupposes terminological standardisation; otherwise misunderstandings proliferate, notwithstanding everybody’s goodwill.',
    'um yeah so I think w we should uh maybe like look at the the colour again you know because it was kind of too yellow mm-hmm',
    'To-do list: 1) call the plumber 2) buy milk, eggs & bread 3) finish the report!!! 4) reply to Mia re: Thursday (NOT Friday)',
  ],
  German: [
    'Die Donaudampfschifffahrtsgesellschaft veröffentlichte ihre Geschäftsbedingungen; die Haftpflichtversicherungsbeiträge für Straßenbahnführer bleiben davon unberührt.',
    'Könntest du bitte prüfen, ob die Rechnung vom Fünfzehnten schon bezahlt wurde? Ich finde die Überweisungsbestätigung nirgends, und der Steuerberater fragt täglich nach.',
  ],
  Russian: [
    'Мы решили перенести встречу на следующий вторник, потому что документация ещё не готова, а без неё обсуждать нечего.',
    'Достопримечательности города расположены вдоль набережной; экскурсоводы рекомендуют начинать прогулку от железнодорожного вокзала.',
  ],
  Japanese: [
    '来週の会議は火曜日に変更されました。資料がまだ完成していないため、木曜日までに共有してください。',
    '株式会社東北鉄道工業は、耐震補強工事の進捗状況を国土交通省へ報告した。',
  ],
  code: [
    `#include <stdio.h>
static inline uint32_t rotl32(uint32_t x, int k) { return (x << k) | (x >> (32 - k)); }
int main(int argc, char **argv) { printf("%08x\\n", rotl32(0xdeadbeef, argc)); return 0; }`,
    `$ grep -rn "maxRetryAfter" src/ | awk -F: '{print $1}' | sort -u | xargs sed -i.bak 's/maxRetryAfter/retryLimit/g' && git diff --stat`,
    `.card{display:grid;grid-template-columns:repeat(auto-fill,minmax(12rem,1fr));gap:.75rem;padding:1em 2em;border:1px solid #d0d7de}`,
  ],
  JSON: [
    '{"id":"ord_10423","status":"paid","total":{"amount":12950,"currency":"EUR"},"items":[{"sku":"CAR-2M","qty":1,"price":8900},{"sku":"ADULT","qty":3,"price":1350}],"notes":null,"gift":false}',
    '[[59.9127,10.7461,"2026-03-04T05:06:07.089Z"],[60.3913,5.3221,"2026-03-04T05:06:08.112Z"],[58.97,5.7331,null]]',
    '{"a":{"b":{"c":[[],{},[{"d":[1,2,3]}]]}},"e":"\\"quoted\\"\\n\\ttext","f":-1.5e-9}',
  ],
  ids: [
    '550e8400-e29b-41d4-a716-446655440000 6ba7b810-9dad-11d1-80b4-00c04fd430c8 f47ac10b-58cc-4372-a567-0e02b2c3d479',
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 da39a3ee5e6b4b0d3255bfef95601890afd80709',
    'V1StGXR8_Z5jdHi6B-myT 3Fz9kQmXwPLc7RtYbNa2s ulid:01J8ZQ4X9K7T3M5N6P8R2S4V6W cus_NffrFeUfNV2Hib pi_3MtwBwLkdIwHu7ix28a3tqPa',
    'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c',
    'xkqzvwptrbnm zqjxkvwbpfghtrdl qwrtplkjhgfdszxcvbnm bcdfghjklmnp',
  ],
  numbers: [
    '3.14159265358979323846264338327950288419716939937510 2.71828182845904523536028747135266249775724709369995',
    '1,234,567.89 + 98,765.43 = 1,333,333.32; -0.0001; 6.02214076e23; 1/3; 42 %; 07:45-18:30; +47 22 12 34 56',
    '2026-01-15\t1043\t17.5\t0.031\n2026-01-16\t998\t18.1\t0.029\n2026-01-17\t1210\t16.9\t0.044\n2026-01-18\t87\t2.5\t0.9',
    'IBAN NO93 8601 1117 947, DE89 3704 0044 0532 0130 00, card 4242 4242 4242 4242, 12/28, 123; 192.168.178.254:8080; 0x7fffffff',
  ],
  emoji: [
    '🎉🚢⚓️🌊 Great news!!! 😀😂🤣 We shipped 🚀🚀🚀 thanks 🙏🏽 team 👩‍💻👨‍🔧👨‍👩‍👧‍👦 ❤️‍🔥',
    '👍 👎 👀 ✅ ❌ ⚠️ 🇳🇴 🇯🇵 🇧🇷 🏳️‍🌈 1️⃣ 2️⃣ 3️⃣ ☕ ☀️ ❄️ ♻️ ➡️ ⬅️',
    '(╯°□°)╯︵ ┻━┻ ¯\\_(ツ)_/¯ ʕ•ᴥ•ʔ ✨ ★★★☆☆ ── ▓▓▓▓░░░░ ∑∆√∞≠≤≥ → ← ↑ ↓ € £ ¥ ½ ² ™',
  ],
};
