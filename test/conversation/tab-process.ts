/** One process with two tabs on a conversation in SQLite. Sends its reports to its parent. */
import { sqliteStore } from 'context-gateway/stores';
import Database from 'libsql';
import { playTab, randomFrom } from './tabs.js';

const [file = '', seed = '', turns = ''] = process.argv.slice(2);
const store = sqliteStore(new Database(file));
await store.migrate();
const tabs = [0, 1].map((tab) => playTab(store, Number(turns), randomFrom(Number(seed) * 2 + tab)));
process.send?.(await Promise.all(tabs), () => process.exit(0));
