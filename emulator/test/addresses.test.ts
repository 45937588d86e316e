import { expect, test } from 'vitest';
import { addressOf, fragmentOf } from '../inspector/service/addresses.js';

test.each([
  { fragment: '', view: '', because: 'nothing is named' },
  { fragment: '#/requests/req_1/req_0', view: 'requests', id: 'req_1', part: 'req_0', because: 'a request is named' },
  { fragment: '#/conversation/a%2Fb/100%', view: 'conversation', id: 'a/b', part: '100%', because: 'ids are encoded' },
  { fragment: '#/people', view: 'service', id: 'users', because: 'an earlier version had this view' },
  { fragment: '#/system', view: 'service', id: 'clock', because: 'an earlier version had this view' },
  { fragment: '#/Memory', view: 'service', id: 'memory', because: 'case makes no difference' },
  { fragment: '#/request/req_1', view: 'requests', because: 'it is nearly the name of a view' },
  { fragment: '#/play', view: 'playground', because: 'it begins the name of a view' },
  { fragment: '#/s', view: '', because: 'one letter names nothing' },
  { fragment: '#/__proto__', view: '', because: 'no view is near' },
])('$fragment leads to "$view": $because', ({ fragment, view, id = '', part = '' }) => {
  expect(addressOf(fragment)).toEqual({ view, id, part });
});

test('an address leads back to what it was made of', () => {
  expect(addressOf(fragmentOf('conversation', 'a/b #1', 'ü%'))).toEqual({
    view: 'conversation',
    id: 'a/b #1',
    part: 'ü%',
  });
});
