// Sessions: conversations that an upstream keeps, stored with the gateway. They outlive it, can be asked for and deleted,
// and hold the seed of the next request even when the client left.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually, make_folder, start_gateway, start_mock } from './harness.mjs';
import { ChatStream, fetch_text, post } from './http.mjs';
import { kEventStream, start_upstream } from './upstream.mjs';

const kTools = [
  {
    type: 'function',
    function: {
      name: 'read',
      parameters: { type: 'object', properties: { filePath: { type: 'string' } } },
    },
  },
];
const kHex = /^[0-9a-f]{64}$/;

const to_config = (url, file, more = {}) => ({
  upstream: [{ name: 'qwen', wire: 'qwen_web', url: `${url}/api/v2`, ...more.upstream }],
  model: [{ name: 'm', id: 'qwen3-max', upstream: 'qwen', dialect: 'generic_xml', retries: 0 }],
  store: { url: `sqlite:${file}` },
  ...more.config,
});

const user = (content) => ({ role: 'user', content });

async function say(gateway, messages, headers = {}) {
  const body = { model: 'm', messages, tools: kTools };
  const answer = await post(`${gateway.v1}/chat/completions`, body, { headers });
  assert.equal(answer.status, 200, answer.text);
  return {
    message: answer.json().choices[0].message,
    how: answer.headers['x-callgate-session-state'],
    session: answer.headers['x-callgate-session'],
    request: answer.headers['x-request-id'],
  };
}

const get = async (gateway, path, options = {}) =>
  (await fetch_text(`${gateway.v1}${path}`, options)).json();

test('a session outlives its gateway', async (t) => {
  const file = join(make_folder(t), 'log.db');
  const mock = await start_mock(t, 'text "an answer"');
  const config = to_config(mock.url, file);
  let gateway = await start_gateway(t, config);
  const messages = [user('Hi')];
  const first = await say(gateway, messages, { 'x-session-id': 'mine' });
  assert.equal(first.how, 'new');
  assert.match(first.session, /^sess_\w{24}$/);
  messages.push(first.message, user('More'));
  await gateway.kill();

  gateway = await start_gateway(t, config);
  const second = await say(gateway, messages, { 'x-session-id': 'mine' });
  assert.deepEqual([second.how, second.session], ['continued', first.session]);
  messages.push(second.message, user('And more'));
  // The id that it was given says as much as the client's own name.
  const third = await say(gateway, messages, { 'x-callgate-session': first.session });
  assert.deepEqual([third.how, third.session], ['continued', first.session]);
  const branch = await say(gateway, messages, { 'x-session-id': 'mine' });
  assert.equal(branch.how, 'branched');

  const list = await get(gateway, '/sessions?model=m&limit=1');
  assert.deepEqual(
    list.data.map(({ id }) => id),
    [branch.session],
  );
  assert.equal(list.data[0].parent, first.session);
  const rest = await get(gateway, `/sessions?model=m&cursor=${list.next_cursor}`);
  assert.deepEqual(
    rest.data.map(({ id }) => id),
    [first.session],
  );
  const session = await get(gateway, `/sessions/${first.session}`);
  assert.deepEqual(
    [session.name, session.turns, session.state.chat, session.state.parent],
    ['mine', 3, 'chat-1', 'resp-3'],
  );
  assert.match(session.identity, kHex);
  assert.deepEqual(
    session.answers.map(({ request, state, continued }) => [request, state, continued]),
    [
      [first.request, 'complete', true],
      [second.request, 'complete', true],
      [third.request, 'complete', false],
    ],
  );
  // The row of the first request may have died with its gateway.
  const logged = await eventually('the log has it', async () => {
    const { data } = await get(gateway, `/requests?session=${first.session}`);
    return data.length >= 2 && data;
  });
  assert.deepEqual(
    logged.slice(0, 2).map(({ id }) => id),
    [third.request, second.request],
  );

  const path = `${gateway.v1}/sessions/${first.session}`;
  const deleted = await fetch_text(path, { method: 'DELETE' });
  assert.deepEqual(deleted.json(), { id: first.session, object: 'session', deleted: true });
  assert.equal((await fetch_text(path)).status, 404);
  assert.equal((await fetch_text(path, { method: 'DELETE' })).status, 404);
  const kept = await get(gateway, `/requests?session=${first.session}`);
  assert.equal(kept.data.length, logged.length);
  // The branch was told the same words.
  await fetch_text(`${gateway.v1}/sessions/${branch.session}`, { method: 'DELETE' });
  messages.push(third.message, user('Once more'));
  const replayed = await say(gateway, messages, { 'x-session-id': 'mine' });
  assert.equal(replayed.how, 'recovered');
  assert.notEqual(replayed.session, first.session);
});

test('sessions are for admins, and parameters are checked', async (t) => {
  const file = join(make_folder(t), 'log.db');
  const mock = await start_mock(t, 'text "an answer"');
  const keys = [
    { name: 'boss', secret: 'sk-boss-0123456789', admin: true },
    { name: 'dev', secret: 'sk-dev-0123456789' },
  ];
  const gateway = await start_gateway(t, to_config(mock.url, file, { config: { key: keys } }));
  const dev = { authorization: 'Bearer sk-dev-0123456789' };
  const boss = { authorization: 'Bearer sk-boss-0123456789' };
  const { session } = await say(gateway, [user('Hi')], dev);
  const fetch_as = (headers, path, method = 'GET') =>
    fetch_text(`${gateway.v1}${path}`, { headers, method });
  for (const method of ['GET', 'DELETE'])
    assert.equal((await fetch_as(dev, `/sessions/${session}`, method)).status, 403);
  assert.equal((await fetch_as(dev, '/sessions')).status, 403);
  assert.equal((await fetch_as(boss, '/sessions?key=dev')).json().data[0].id, session);
  assert.equal((await fetch_as(boss, '/sessions?key=boss')).json().data.length, 0);
  for (const [query, param] of [
    ['limit=0', 'limit'],
    ['modle=m', 'modle'],
    ['model=', 'model'],
  ]) {
    const answer = await fetch_as(boss, `/sessions?${query}`);
    assert.deepEqual([answer.status, answer.json().error.param], [400, param]);
  }
  assert.equal((await fetch_as(boss, '/sessions?cursor=x')).status, 400);
});

// A file is read in a chat of a web page: nine chunks, the call as XML.
const kChunks = [
  { 'response.created': { chat_id: 'chat-123', parent_id: 'parent-456', response_id: 'resp-789' } },
  {
    choices: [{ delta: { role: 'assistant', content: "I'll ", phase: 'answer', status: 'typing' } }],
    usage: { input_tokens: 25, output_tokens: 1 },
  },
  ...[
    'read ',
    'the ',
    'file.\n\n',
    '<read>\n',
    '<filePath>/home/user/package.json</filePath>\n',
    '</read>',
  ].map((content) => ({ choices: [{ delta: { content } }] })),
  { choices: [{ delta: { content: '', phase: 'answer', status: 'finished' } }] },
].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);

async function start_page(t, { hold }) {
  const posts = [];
  const upstream = await start_upstream(t, async (request, response) => {
    if (request.url.includes('/chats/new')) {
      response.writeHead(200, { 'content-type': 'application/json' });
      return response.end('{"success":true,"data":{"id":"chat-123"}}');
    }
    posts.push(JSON.parse(request.text));
    response.writeHead(200, kEventStream);
    for (const chunk of kChunks.slice(0, 8)) response.write(chunk);
    if (!hold || posts.length > 1) response.end(`${kChunks[8]}data: [DONE]\n\n`);
  });
  return { upstream, posts };
}

for (const hold of [false, true]) {
  const what = hold ? 'also when the client left after the last byte of the call' : 'to its end';
  test(`the session has the new parent and the identity, ${what}`, async (t) => {
    const file = join(make_folder(t), 'log.db');
    const { upstream, posts } = await start_page(t, { hold });
    const gateway = await start_gateway(t, to_config(upstream.url, file));
    const messages = [user('Read the package.json file')];
    const body = { model: 'm', messages, tools: kTools };
    const stream = await ChatStream.open(gateway.url, body);
    const call = { id: '', type: 'function', function: { name: 'read', arguments: '' } };
    let content = '';
    for await (const { data } of stream) {
      if (data === undefined || data === '[DONE]') continue;
      const delta = JSON.parse(data).choices[0]?.delta ?? {};
      content += delta.content ?? '';
      for (const part of delta.tool_calls ?? []) {
        call.id ||= part.id;
        call.function.arguments += part.function.arguments ?? '';
      }
      if (hold && call.function.arguments.endsWith('}')) break;
    }
    if (hold) stream.leave();
    assert.equal(call.function.arguments, '{"filePath":"/home/user/package.json"}');
    const id = stream.headers['x-callgate-session'];
    const session = await eventually('the session is stored', async () => {
      const found = await get(gateway, `/sessions/${id}`);
      return found.id && found;
    });
    assert.deepEqual(
      [session.state.chat, session.state.parent, session.turns],
      ['chat-123', 'resp-789', 1],
    );
    assert.match(session.identity, kHex);
    assert.deepEqual(
      session.answers.map(({ state, request }) => [state, request]),
      [[hold ? 'cut' : 'complete', stream.headers['x-request-id']]],
    );
    messages.push({ role: 'assistant', content, tool_calls: [call] });
    messages.push({ role: 'tool', tool_call_id: call.id, content: '{"name":"x"}' });
    const next = await say(gateway, messages);
    assert.deepEqual([next.how, next.session], ['continued', id]);
    assert.equal(posts[1].parent_id, 'resp-789');
  });
}
