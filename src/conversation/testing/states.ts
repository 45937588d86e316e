import { isConflict, isSame, type Rule, stateOf } from './talk.js';

/** The rules of states. A store without `saveState` keeps them. */
export const STATES: Readonly<Record<string, Rule>> = {
  'load returns the state that saveState got last, unchanged, and its revision': async (talk) => {
    const { tested, id } = talk;
    if (tested.saveState === undefined) return undefined;
    for (const revision of [0, 1]) await tested.saveState(id, stateOf(`Rule ${revision}`), revision);
    await tested.saveState(crypto.randomUUID(), stateOf('Another conversation'), 0);
    await talk.three();
    const { state, revision } = await talk.load();
    return isSame([state, revision], [stateOf('Rule 1'), 2]);
  },

  'saveState throws a ConversationConflictError, and changes nothing, if `revision` is not the stored one': async (
    talk,
  ) => {
    const { tested, id } = talk;
    if (tested.saveState === undefined) return undefined;
    await tested.saveState(id, stateOf('First'), 0);
    for (const revision of [0, 2])
      try {
        await tested.saveState(id, stateOf('Other'), revision);
        return `it takes ${revision} for revision 1`;
      } catch (error) {
        if (!isConflict(error)) throw error;
      }
    return isSame((await talk.load()).state, stateOf('First'));
  },

  'saveState changes no messages, and append no state': async (talk) => {
    const { tested, id } = talk;
    await tested.saveState?.(id, stateOf('First'), 0);
    const [after, , newest] = await talk.three();
    await talk.append(['New.'], { edits: 0, newest, after });
    const states = [(await talk.load()).state];
    await tested.saveState?.(id, stateOf('Second'), 1);
    states.push((await talk.load()).state);
    const saved = tested.saveState && ['First', 'Second'].map(stateOf);
    return isSame(await talk.texts(), 'One. New.') ?? (saved && isSame(states, saved));
  },
};
