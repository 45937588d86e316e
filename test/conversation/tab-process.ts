/** One process with two tabs on a conversation in SQLite. Sends its reports to its parent. */
import Database from 'libsql';
import { sqliteStore } from '../../examples/apps/support-chat/sqlite-store.js';
import { playTab, randomFrom } from './tabs.js';

const [file = '', seed = '', turns = ''] = process.argv.slice(2);
const db = new Database(file);
db.pragma('busy_timeout = 10000');
const store = sqliteStore(db);
const tabs = [0, 1].map((tab) => playTab(store, Number(turns), randomFrom(Number(seed) * 2 + tab)));
process.send?.(await Promise.all(tabs), () => process.exit(0));
