// What tool loops remember: the gateway keeps the conversation, in each of its modes, with every store, and the model is
// never sent a call without its result.
import assert from 'node:assert/strict';
import http from 'node:http';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { Postgres } from './cluster.mjs';
import { defer, eventually, file_scope, make_folder, start_gateway } from './harness.mjs';
import { ChatStream, fetch_text, post, SseReader } from './http.mjs';
import { chunk, kEventStream, kHead, start_upstream } from './upstream.mjs';

const scope = file_scope();
const kFirst = 'Let me look that up...';
const kFinal = 'Your order has shipped!';
const kOrder = '{"status":"shipped"}';

// No id twice, every call answered right behind its message, no result without its call.
function check_history(messages) {
  const ids = new Set();
  let open = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      assert.ok(open.includes(message.tool_call_id), `no call ${message.tool_call_id}`);
      open = open.filter((id) => id !== message.tool_call_id);
      continue;
    }
    assert.deepEqual(open, [], 'a call without its result');
    open = (message.tool_calls ?? []).map(({ id }) => id);
    for (const id of open) assert.ok(!ids.has(id), `${id} twice`);
    for (const id of open) ids.add(id);
  }
  assert.deepEqual(open, [], 'a call without its result at the end');
}

// The model: an order is looked up, and every turn names its call tc1.
function turn_of(messages) {
  const last = messages.at(-1);
  const call = (id, name, args) => ({ id, name, args });
  if (last.role === 'tool') {
    const answered = messages.slice(-2).some(({ content }) => content === 'blue');
    return { text: answered ? 'Painted blue.' : kFinal };
  }
  if (last.content.includes('paint')) {
    const calls = [call('tc1', 'lookup_order', '{"id":"ORD-42"}'), call('k1', 'ask_client', '{}')];
    return { text: 'Both. ', calls };
  }
  if (last.content.includes('hang')) return { text: kFirst, calls: [call('tc1', 'hang', '{}')] };
  if (last.content.includes('ORD-42')) {
    return { text: kFirst, calls: [call('tc1', 'lookup_order', '{"id":"ORD-42"}')] };
  }
  return { text: `I know ${messages.length}.` };
}

let fault;  // what the upstream does instead, once
async function answer(request, response) {
  const { messages } = JSON.parse(request.text);
  if (fault) {
    const [status] = [fault, (fault = undefined)];
    return response.writeHead(status).end('{}');
  }
  check_history(messages);
  const { text, calls = [] } = turn_of(messages);
  response.writeHead(200, kEventStream);
  response.write(kHead + chunk({ content: text }));
  calls.forEach(({ id, name, args }, index) => {
    const tool_calls = [{ index, id, type: 'function', function: { name, arguments: args } }];
    response.write(chunk({ tool_calls }));
  });
  const finish_reason = calls.length > 0 ? 'tool_calls' : 'stop';
  response.end(`${chunk({}, { finish_reason })}data: [DONE]\n\n`);
}

let upstream;
let tools;
let postgres;
const gateways = {};

async function start(store, more = {}) {
  const http_tool = (name, path) => ({
    name,
    kind: 'http',
    method: 'GET',
    url: `http://127.0.0.1:${tools.port}${path}`,
    addresses: ['127.0.0.0/8'],
    description: name,
  });
  return start_gateway(scope, {
    store,
    upstream: [{ name: 'main', url: upstream.v1 }],
    model: [
      { name: 'm', upstream: 'main', loop: true, retries: 0 },
      { name: 'plain', upstream: 'main' },
    ],
    tool: [http_tool('lookup_order', '/orders'), http_tool('hang', '/hang')],
    ...more,
  });
}

const start_shared = () =>
  start({ url: postgres.url, journal: join(make_folder(scope), 'callgate.journal') });

before(async () => {
  upstream = await start_upstream(scope, answer);
  const server = http.createServer((request, response) => {
    if (request.url.startsWith('/hang')) return tools.hanging.push(response);
    response.writeHead(200, { 'content-type': 'application/json' }).end(kOrder);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  defer(scope, () => {
    server.closeAllConnections();
    server.close();
  });
  tools = { port: server.address().port, hanging: [] };
  postgres = await Postgres.start(scope);
  gateways.none = await start({ url: 'none' });
  gateways.sqlite = await start({ url: `sqlite:${join(make_folder(scope), 'callgate.db')}` });
  gateways.postgresql = await start_shared();
});

let counter = 0;
const new_conversation = () => `c ${++counter}`;
const user = (content) => ({ role: 'user', content });

async function ask(gateway, messages, callgate, { stream = true, headers, ...more } = {}) {
  const body = { model: 'm', messages, stream, callgate, ...more };
  const got = await post(`${gateway.v1}/chat/completions`, body, { headers });
  if (got.status !== 200) return { status: got.status, error: got.json().error };
  if (!stream) {
    const { choices, callgate: end } = got.json();
    const { content, tool_calls = [] } = choices[0].message;
    return { text: content, end, calls: tool_calls, reason: choices[0].finish_reason };
  }
  const frames = new SseReader().push(got.text).filter(({ data }) => data && data !== '[DONE]');
  const chunks = frames.map(({ data }) => JSON.parse(data));
  const last = chunks.find(({ choices }) => choices?.[0]?.finish_reason);
  return {
    text: chunks.map(({ choices }) => choices?.[0]?.delta.content ?? '').join(''),
    calls: chunks.flatMap(({ choices }) => choices?.[0]?.delta.tool_calls ?? []),
    notes: chunks.map(({ callgate }) => callgate?.type).filter(Boolean),
    reason: last?.choices[0].finish_reason,
    end: last?.callgate,
    error: chunks.find(({ error }) => error)?.error,
  };
}

// What the model was sent last, as a word for each message.
function sent() {
  const { messages } = JSON.parse(upstream.requests.at(-1).text);
  return messages.map((message) => {
    if (message.role === 'tool') return 'result';
    return message.tool_calls ? 'calls' : `${message.role}: ${message.content}`;
  });
}

const kQuestion = 'Where is ORD-42?';
const kRemembered = {
  none: [],
  outside: [`user: ${kQuestion}`, `assistant: ${kFinal}`],
  inside: [`user: ${kQuestion}`, 'calls', 'result', `assistant: ${kFinal}`],
};

for (const store of ['none', 'sqlite', 'postgresql']) {
  describe(`with the store ${store}`, () => {
    for (const memory of ['none', 'outside', 'inside']) {
      test(`the order example and what follows it, memory ${memory}`, async () => {
        for (const stream of [true, false]) {
          for (const show_tool_calls of [false, true]) {
            const conversation = new_conversation();
            const callgate = { conversation, memory, show_tool_calls };
            const first = await ask(gateways[store], [user(kQuestion)], callgate, { stream });
            assert.equal(first.text, `${kFirst}\n\n${kFinal}`, JSON.stringify(first));
            assert.equal(first.end.end_reason, 'completed');
            const noted = stream ? first.notes : (first.end.events ?? []).map(({ type }) => type);
            const shown = ['callgate.tool_call', 'callgate.tool_result'];
            assert.deepEqual(noted, show_tool_calls ? shown : []);
            const next = await ask(gateways[store], [user('And now?')], callgate, { stream });
            assert.match(next.text, /^I know/);
            assert.deepEqual(sent(), [...kRemembered[memory], 'user: And now?']);
            await ask(gateways[store], [user(kQuestion)], callgate, { stream });
          }
        }
      });
    }

    for (const memory of ['outside', 'inside']) {
      test(`calls for the client are answered with the next request, memory ${memory}`, async () => {
        const callgate = { conversation: new_conversation(), memory };
        const own = { tools: [{ type: 'function', function: { name: 'ask_client' } }] };
        const first = await ask(gateways[store], [user('paint it')], callgate, own);
        assert.equal(first.reason, 'tool_calls');
        assert.deepEqual(first.calls.map(({ id }) => id).filter(Boolean), ['k1']);
        const unknown = [{ role: 'tool', tool_call_id: 'k9', content: 'blue' }];
        const refused = await ask(gateways[store], unknown, callgate, own);
        assert.equal(refused.status, 400);
        assert.match(refused.error.message, /waits for no result of call "k9"/);
        const results = [{ role: 'tool', tool_call_id: 'k1', content: 'blue' }];
        fault = 400;
        assert.equal((await ask(gateways[store], results, callgate, own)).status, 400);
        const second = await ask(gateways[store], results, callgate, own);
        assert.equal(second.text, 'Painted blue.', JSON.stringify(second));
        const round = ['user: paint it', 'calls', 'result', 'result'];
        assert.deepEqual(sent(), round);
        await ask(gateways[store], [user('Thanks')], callgate);
        const outside = ['user: paint it', 'assistant: Painted blue.'];
        const kept = memory === 'inside' ? [...round, 'assistant: Painted blue.'] : outside;
        assert.deepEqual(sent(), [...kept, 'user: Thanks']);
      });
    }
  });
}

test('a request without the loop remembers, too, and has no tools', async () => {
  const headers = { 'x-callgate-conversation': new_conversation() };
  const plain = { model: 'plain', headers };
  await ask(gateways.sqlite, [user('Hello')], undefined, plain);
  assert.equal(JSON.parse(upstream.requests.at(-1).text).tools, undefined);
  await ask(gateways.sqlite, [user('Again')], undefined, plain);
  assert.deepEqual(sent(), ['user: Hello', 'assistant: I know 1.', 'user: Again']);
  const wrong = await ask(gateways.sqlite, [user('x')], { conversation: 'c', memory: 'both' });
  assert.match(wrong.error.message, /callgate.memory: expected outside, inside or none/);
  const long = await ask(gateways.sqlite, [user('x')], { conversation: 'c'.repeat(201) });
  assert.equal(long.error.param, 'callgate.conversation');
});

test("the request's system prompt takes the place of the remembered one", async () => {
  for (const memory of ['outside', 'inside']) {
    const callgate = { conversation: new_conversation(), memory };
    const system = (content) => ({ role: 'system', content });
    await ask(gateways.sqlite, [system('Be kind.'), user('One')], callgate);
    await ask(gateways.sqlite, [user('Two')], callgate);
    assert.deepEqual(sent().slice(0, 2), ['system: Be kind.', 'user: One']);
    await ask(gateways.sqlite, [system('Be brief.'), user('Three')], callgate);
    assert.deepEqual(sent().slice(0, 2), ['system: Be brief.', 'user: One']);
    assert.equal(sent().filter((word) => word.startsWith('system')).length, 1);
  }
});

test('a question that failed and is asked again is remembered once', async () => {
  const callgate = { conversation: new_conversation(), memory: 'inside' };
  fault = 400;
  assert.equal((await ask(gateways.sqlite, [user('One')], callgate)).status, 400);
  await ask(gateways.sqlite, [user('One')], callgate);
  assert.deepEqual(sent(), ['user: One']);
});

test('two requests of a conversation at a time: the second is refused', async () => {
  for (const gateway of [gateways.none, gateways.postgresql]) {
    const callgate = { conversation: new_conversation(), memory: 'inside' };
    tools.hanging.length = 0;
    const first = ask(gateway, [user('hang on')], callgate);
    await eventually('the tool runs', () => tools.hanging.length === 1);
    const from = upstream.requests.length;
    const second = await ask(gateway, [user('me too')], callgate);
    assert.equal(second.status, 409);
    assert.equal(second.error.code, 'conversation_busy');
    assert.equal(upstream.requests.length, from, 'the model is not asked');
    tools.hanging[0].writeHead(200, { 'content-type': 'text/plain' }).end('late');
    assert.equal((await first).end.end_reason, 'completed');
    assert.equal((await ask(gateway, [user('Now')], callgate)).end.end_reason, 'completed');
  }
});

test('gateways on one PostgreSQL go on with the same conversations', async () => {
  const other = await start_shared();
  for (const memory of ['outside', 'inside']) {
    const callgate = { conversation: new_conversation(), memory };
    const own = { tools: [{ type: 'function', function: { name: 'ask_client' } }] };
    await ask(gateways.postgresql, [user(kQuestion)], callgate);
    await ask(other, [user('And now?')], callgate);
    assert.deepEqual(sent(), [...kRemembered[memory], 'user: And now?']);
    await ask(gateways.postgresql, [user('paint it')], callgate, own);
    const results = [{ role: 'tool', tool_call_id: 'k1', content: 'blue' }];
    assert.equal((await ask(other, results, callgate, own)).text, 'Painted blue.');
  }
});

test('a gateway that is killed while a tool runs leaves a whole history', async () => {
  const store = { url: `sqlite:${join(make_folder(scope), 'callgate.db')}` };
  const callgate = { conversation: 'c1', memory: 'inside' };
  const killed = await start(store);
  await ask(killed, [user(kQuestion)], callgate);
  tools.hanging.length = 0;
  const lost = ask(killed, [user('hang on')], callgate).catch(() => 'cut off');
  await eventually('the tool runs', () => tools.hanging.length === 1);
  await killed.kill();
  assert.equal(await lost, 'cut off');
  const again = await start(store);
  const next = await ask(again, [user('Are you there?')], callgate);
  assert.match(next.text, /^I know/);
  const said = [...kRemembered.inside, 'user: hang on', 'user: Are you there?'];
  assert.deepEqual(sent(), said);
});

test('what ends a loop early leaves a whole history', async () => {
  const callgate = { conversation: new_conversation(), memory: 'inside' };
  tools.hanging.length = 0;
  const body = { model: 'm', stream: true, messages: [user('hang on')], callgate };
  const left = await ChatStream.open(gateways.sqlite.url, body);
  await eventually('the tool runs', () => tools.hanging.length === 1);
  left.leave();
  const next = async () => (await ask(gateways.sqlite, [user('Go on')], callgate)).text;
  await eventually('the conversation is free', async () => /^I know/.test(await next()));
  const round = ['user: hang on', 'calls', 'result', 'user: Go on'];
  assert.deepEqual(sent(), round);

  tools.hanging.length = 0;
  const deleted = ask(gateways.sqlite, [user('hang on')], callgate);
  await eventually('the tool runs', () => tools.hanging.length === 1);
  const url = `${gateways.sqlite.v1}/conversations/${encodeURIComponent(callgate.conversation)}`;
  assert.equal((await fetch_text(url, { method: 'DELETE' })).status, 200);
  tools.hanging[0].writeHead(200, { 'content-type': 'text/plain' }).end('late');
  const told = await deleted;
  assert.equal(told.error.code, 'conversation_moved');
  assert.equal(told.reason, undefined);
  assert.equal((await fetch_text(url)).status, 404, 'it does not come back');
});

test('a conversation that is full takes no more', async () => {
  const gateway = await start({ url: 'none' }, { loop: { memory: 'inside', memory_messages: 5 } });
  const callgate = { conversation: 'c1' };
  assert.equal((await ask(gateway, [user(kQuestion)], callgate)).end.end_reason, 'completed');
  const late = await ask(gateway, [user(kQuestion)], callgate);
  assert.equal(late.error.code, 'conversation_full', JSON.stringify(late));
  assert.equal(late.text, kFirst, 'the step after the first turn does not fit');
  const full = await ask(gateway, [user('More')], callgate);
  assert.equal(full.status, 413);
});

test('conversations are shown to their key and to admins, and deleted', async () => {
  const key = [
    { name: 'dev', secret: 'dev-secret' },
    { name: 'ops', secret: 'ops-secret', admin: true },
  ];
  const store = { url: `sqlite:${join(make_folder(scope), 'callgate.db')}` };
  const gateway = await start(store, { key });
  const as = (name) => ({ headers: { authorization: `Bearer ${name}-secret` } });
  const callgate = { conversation: 'a/b', memory: 'inside' };
  await ask(gateway, [{ role: 'system', content: 'Be kind.' }, user(kQuestion)], callgate, as('dev'));
  const url = `${gateway.v1}/conversations/a%2Fb`;
  const mine = (await fetch_text(url, as('dev'))).json();
  assert.equal(mine.id, 'a/b');
  assert.deepEqual(mine.prompt, [{ role: 'system', content: 'Be kind.' }]);
  assert.deepEqual(
    mine.messages.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'assistant'],
  );
  assert.equal(mine.messages[1].tool_calls[0].function.name, 'lookup_order');
  assert.equal(mine.messages[2].content, kOrder);
  assert.equal((await fetch_text(url, as('ops'))).status, 404);
  assert.equal((await fetch_text(`${url}?key=dev`, as('ops'))).json().key, 'dev');
  assert.equal((await fetch_text(`${url}?key=ops`, as('dev'))).status, 403);

  // The log shows what became of the call.
  const log = `${gateway.v1}/requests`;
  const rows = async () => (await fetch_text(`${log}?session=a%2Fb`, as('ops'))).json().data;
  const [row] = await eventually('the row', async () => {
    const found = await rows();
    return found[0]?.state === 'completed' && found;
  });
  const { calls } = (await fetch_text(`${log}/${row.id}`, as('ops'))).json();
  const { duration_ms, ...result } = calls[0].result;
  assert.deepEqual(result, { round: 0, is_error: false, bytes: kOrder.length, text: kOrder });
  assert.ok(duration_ms >= 0);

  const gone = await fetch_text(url, { method: 'DELETE', ...as('dev') });
  assert.deepEqual(gone.json(), { id: 'a/b', object: 'conversation', deleted: true });
  assert.equal((await fetch_text(url, as('dev'))).status, 404);
  assert.equal((await fetch_text(url, { method: 'DELETE', ...as('dev') })).status, 404);
});

test('a store that is down refuses, or ends the loop; what is acknowledged is stored', async () => {
  const gateway = gateways.postgresql;
  const callgate = { conversation: new_conversation(), memory: 'inside' };
  await ask(gateway, [user(kQuestion)], callgate);
  tools.hanging.length = 0;
  const cut = ask(gateway, [user('hang on')], callgate);
  await eventually('the tool runs', () => tools.hanging.length === 1);
  await postgres.stop();
  tools.hanging[0].writeHead(200, { 'content-type': 'text/plain' }).end('late');
  const told = await cut;
  assert.match(told.error.message, /^store: /);
  assert.equal(told.reason, undefined);
  const refused = await ask(gateway, [user('Hello?')], callgate);
  assert.equal(refused.status, 503);
  await postgres.start_again();
  const back = async () => (await ask(gateway, [user('Now')], callgate)).end?.end_reason;
  await eventually('the store is back', async () => (await back()) === 'completed');
  const said = [...kRemembered.inside, 'user: hang on', 'user: Now'];
  assert.deepEqual(sent(), said);
});
