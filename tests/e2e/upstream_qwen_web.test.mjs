// The Qwen web chat behind the gateway: conversations that the upstream keeps. `callgate mock` has its own account of every
// chat, GET /api/v2/chats/ID, with which the tests compare.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { check_error, check_stream, check_whole } from './chat_contract.mjs';
import { Program, eventually, start_gateway, start_mock } from './harness.mjs';
import { ChatStream, fetch_text, post } from './http.mjs';
import { start_upstream } from './upstream.mjs';

const kUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const kTools = ['get_weather', 'add'].map((name) => ({
  type: 'function',
  function: {
    name,
    parameters: {
      type: 'object',
      properties:
        name === 'add'
          ? { a: { type: 'integer' }, b: { type: 'integer' } }
          : { city: { type: 'string' } },
    },
  },
}));

// Text; one call; two parallel calls; the final answer.
const kTurns = [
  { text: 'Grüezi 🧭. What shall I do?', calls: [] },
  { text: 'Let me look.', calls: [['get_weather', { city: 'Zürich <b>&</b>' }]] },
  {
    text: '',
    calls: [
      ['get_weather', { city: 'Bern' }],
      ['add', { a: 19, b: 23 }],
    ],
  },
  { text: 'It is 18 and 12 degrees, and 42.', calls: [], reasoning: 'Sum up. ' },
];
const kUsage = { prompt: 87, completion: 41, total: 128, cached: 16, reasoning: 7 };
const kScript = kTurns
  .map(
    ({ text, calls, reasoning }, i) => `
rule turn${i}
  when turn ${i}
  cut 5
  write 7
${reasoning ? `  reasoning ${JSON.stringify(reasoning)}\n` : ''}\
${text ? `  text ${JSON.stringify(text)}\n` : ''}\
${calls.map(([name, args]) => `  call ${name} ${JSON.stringify(args)}\n`).join('')}\
  usage ${Object.entries(kUsage)
    .map((pair) => pair.join('='))
    .join(' ')}`,
  )
  .join('\n');

// Passes everything on to the mock and keeps it.
async function start_recorder(scope, mock) {
  return start_upstream(scope, async (request, response) => {
    const answer = await fetch(mock.url + request.url, {
      method: request.method,
      headers: { 'content-type': 'application/json' },
      body: request.text,
    });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') });
    for await (const bytes of answer.body) response.write(bytes);
    response.end();
  });
}

const to_config = (url, { upstream = {}, model = {}, ...rest } = {}) => ({
  upstream: [
    {
      name: 'qwen',
      wire: 'qwen_web',
      url: `${url}/api/v2`,
      key: '${QWEN_TOKEN}',
      headers: { cookie: '${QWEN_COOKIE}', 'bx-ua': 'ua-1', 'user-agent': 'Mozilla/5.0' },
      ...upstream,
    },
  ],
  model: [{ name: 'm', id: 'qwen3-max', upstream: 'qwen', dialect: 'generic_xml', ...model }],
  ...rest,
});
const kEnv = { env: { QWEN_TOKEN: 'secret-token-1', QWEN_COOKIE: 'sid=secret-cookie-1' } };

// One request, streamed or not: {message, finish, usage, headers}.
async function say(gateway, messages, { stream = false, headers = {}, ...more } = {}) {
  const body = { model: 'm', messages, tools: kTools, ...more };
  if (!stream) {
    const answer = await post(`${gateway.v1}/chat/completions`, body, { headers });
    if (answer.status !== 200) return { status: answer.status, error: answer.json() };
    const [choice] = check_whole(answer.json()).choices;
    return {
      status: 200,
      message: choice.message,
      finish: choice.finish_reason,
      usage: answer.json().usage,
      headers: answer.headers,
    };
  }
  body.stream_options = { include_usage: true };
  const answer = await ChatStream.open(gateway.url, body, { headers });
  if (answer.status !== 200) return { status: answer.status };
  const turn = check_stream(await answer.data(), { include_usage: true });
  const message = { role: 'assistant', content: turn.text || null };
  if (turn.reasoning) message.reasoning_content = turn.reasoning;
  if (turn.calls.length > 0)
    message.tool_calls = turn.calls.map(({ id, name, arguments: text }) => ({
      id,
      type: 'function',
      function: { name, arguments: text },
    }));
  return {
    status: 200,
    message,
    finish: turn.finish_reason,
    usage: turn.usage,
    headers: answer.headers,
  };
}

const chat_of = async (mock, id) =>
  (await fetch_text(`${mock.url}/api/v2/chats/${id}`)).json().data;
const chats_of = async (mock) =>
  Promise.all(
    (await fetch_text(`${mock.url}/api/v2/chats`)).json().data.map(({ id }) => chat_of(mock, id)),
  );
const user = (content) => ({ role: 'user', content });

describe('a conversation with text, a call, two parallel calls and an answer', () => {
  for (const stream of [false, true]) {
    test(stream ? 'streamed' : 'whole', async (t) => {
      const mock = await start_mock(t, kScript);
      const recorder = await start_recorder(t, mock);
      const gateway = await start_gateway(t, to_config(recorder.url), kEnv);
      const messages = [{ role: 'system', content: 'Be brief.' }, user('Hello')];
      const told = ['[system]\nBe brief.\n\n[user]\nHello'];
      for (const [i, turn] of kTurns.entries()) {
        const answer = await say(gateway, messages, { stream, reasoning_effort: 'high' });
        assert.equal(answer.status, 200, JSON.stringify(answer));
        const { message, finish, usage, headers } = answer;
        assert.equal(headers['x-callgate-session-state'], i === 0 ? 'new' : 'continued');
        assert.equal(headers['x-callgate-dropped'], 'tools');
        assert.equal(message.content ?? '', turn.text);
        assert.equal(message.reasoning_content, turn.reasoning);
        const calls = message.tool_calls ?? [];
        assert.deepEqual(
          calls.map((call) => [call.function.name, JSON.parse(call.function.arguments)]),
          turn.calls,
        );
        assert.equal(finish, calls.length > 0 ? 'tool_calls' : 'stop');
        assert.deepEqual(
          [usage.prompt_tokens, usage.completion_tokens, usage.total_tokens],
          [kUsage.prompt, kUsage.completion, kUsage.total],
        );
        assert.equal(usage.prompt_tokens_details.cached_tokens, kUsage.cached);
        assert.equal(usage.completion_tokens_details.reasoning_tokens, kUsage.reasoning);
        const news =
          calls.length === 0
            ? [user('And the weather?')]
            : calls.map((call, n) => ({
                role: 'tool',
                tool_call_id: call.id,
                content: `${n + 17}`,
              }));
        messages.push(message, ...news);
        told.push(
          calls.length === 0
            ? 'And the weather?'
            : calls
                .map((call, n) => `[tool ${call.function.name} ${call.id}]\n${n + 17}`)
                .join('\n\n'),
        );
      }

      const [created, ...posts] = recorder.requests;
      assert.equal(created.url, '/api/v2/chats/new');
      const { timestamp, ...chat } = JSON.parse(created.text);
      assert.deepEqual(chat, {
        title: 'New Chat',
        models: ['qwen3-max'],
        chat_mode: 'normal',
        chat_type: 't2t',
      });
      assert.ok(Math.abs(timestamp - Date.now()) < 60_000);
      assert.equal(posts.length, 4);
      const [{ messages: tree, overlaps }] = await chats_of(mock);
      assert.equal(overlaps, 0);
      const answers = tree.filter((node) => node.role === 'assistant');
      posts.forEach((request, i) => {
        assert.equal(request.url, '/api/v2/chat/completions?chat_id=chat-1');
        const at = JSON.parse(request.text).timestamp;
        assert.ok(Math.abs(at - Date.now() / 1000) < 60);
        const parent = i === 0 ? null : answers[i - 1].id;
        const { fid } = JSON.parse(request.text).messages[0];
        assert.match(fid, kUuid);
        assert.deepEqual(JSON.parse(request.text), {
          stream: true,
          version: '2.1',
          incremental_output: true,
          chat_id: 'chat-1',
          chat_mode: 'normal',
          model: 'qwen3-max',
          parent_id: parent,
          messages: [
            {
              fid,
              parentId: parent,
              parent_id: parent,
              childrenIds: [],
              role: 'user',
              content: told[i],
              user_action: 'chat',
              files: [],
              timestamp: at,
              models: ['qwen3-max'],
              chat_type: 't2t',
              sub_chat_type: 't2t',
              feature_config: {
                thinking_enabled: true,
                output_schema: 'phase',
                auto_thinking: false,
                thinking_format: 'summary',
              },
              extra: { meta: { subChatType: 't2t' } },
            },
          ],
          timestamp: at,
        });
      });
      for (const request of recorder.requests) {
        assert.equal(request.headers.authorization, 'Bearer secret-token-1');
        assert.equal(request.headers.cookie, 'sid=secret-cookie-1');
        assert.equal(request.headers['bx-ua'], 'ua-1');
        assert.equal(request.headers['content-type'], 'application/json');
      }
      assert.deepEqual(
        tree.map((node) => node.parent_id),
        [null, ...tree.slice(0, -1).map((node) => node.id)],
        'one chain',
      );
    });
  }
});

// Answers with what it was asked last, in pieces.
const kEcho = `
rule endless
  when user contains "endless"
  cut 4
  pace 20ms
  text ${JSON.stringify('over and '.repeat(300))}
rule slow
  when user contains "slow"
  cut 4
  pace 20ms
  text "one two three four five six seven eight nine ten"
rule echo
  when user contains "twice"
  text "the same"
rule other
  cut words
  text "an answer to it"
`;

async function start(t, config = {}, script = kEcho) {
  const mock = await start_mock(t, script);
  const gateway = await start_gateway(t, to_config(mock.url, config), kEnv);
  return { mock, gateway };
}

const texts = (chat) => chat.messages.map((node) => node.content);

describe('the conversation that a request belongs to', () => {
  test('asking again, and going back to an older answer, branch the chat', async (t) => {
    const { mock, gateway } = await start(t);
    const one = [user('first')];
    const first = await say(gateway, one);
    const two = [...one, first.message, user('second')];
    const second = await say(gateway, two);
    const again = await say(gateway, two);
    assert.equal(again.headers['x-callgate-session-state'], 'branched');
    await say(gateway, [...two, second.message, user('third')]);
    const back = await say(gateway, [...one, first.message, user('another')], { stream: true });
    assert.equal(back.headers['x-callgate-session-state'], 'branched');
    const [chat, ...more] = await chats_of(mock);
    assert.deepEqual(more, []);
    const parent_of = (text) => chat.messages.find((node) => node.content === text).parent_id;
    const [, root] = chat.messages;
    assert.deepEqual(
      chat.messages.filter((node) => node.content === 'second').map((node) => node.parent_id),
      [root.id, root.id],
    );
    assert.equal(parent_of('another'), root.id);
    assert.notEqual(parent_of('third'), root.id);
  });

  test('what was changed is told to a new chat, with nothing left out', async (t) => {
    const { mock, gateway } = await start(t);
    const first = await say(gateway, [user('first')]);
    const changed = await say(gateway, [
      user('FIRST'),
      first.message,
      { role: 'tool', tool_call_id: 'x', content: '' },
      user('second'),
    ]);
    assert.equal(changed.headers['x-callgate-session-state'], 'recovered');
    const [, chat] = await chats_of(mock);
    assert.equal(
      chat.messages[0].content,
      'This is a conversation so far. Answer its last message.\n\n' +
        `[user]\nFIRST\n\n[assistant]\n${first.message.content}\n\n[tool x]\n(no output)\n\n[user]\nsecond`,
    );
    const next = await say(gateway, [
      user('FIRST'),
      first.message,
      { role: 'tool', tool_call_id: 'x', content: '' },
      user('second'),
      changed.message,
      user('third'),
    ]);
    assert.equal(next.headers['x-callgate-session-state'], 'continued');
  });

  test('a chat that the upstream has lost is told anew', async (t) => {
    const lost = await start_mock(t, kEcho);
    const kept = await start_mock(t, kEcho);
    let mock = lost;
    const recorder = await start_upstream(t, async (request, response) => {
      const answer = await fetch(mock.url + request.url, { method: 'POST', body: request.text });
      response.writeHead(200, { 'content-type': answer.headers.get('content-type') });
      response.end(Buffer.from(await answer.arrayBuffer()));
    });
    const gateway = await start_gateway(t, to_config(recorder.url), kEnv);
    const first = await say(gateway, [user('first')]);
    mock = kept;
    const answer = await say(gateway, [user('first'), first.message, user('second')]);
    assert.equal(answer.headers['x-callgate-session-state'], 'recovered');
    const [chat] = await chats_of(kept);
    assert.match(
      chat.messages[0].content,
      /\[user\]\nfirst\n\n\[assistant\]\n.*\n\n\[user\]\nsecond/,
    );
  });

  test('clients with the same words keep their own chats', async (t) => {
    const keys = ['a', 'b'].map((name) => ({ name, secret: `key-${name}-123456` }));
    const { mock, gateway } = await start(t, { key: keys });
    const messages = [user('twice')];
    const bearer = (i) => ({ headers: { authorization: `Bearer ${keys[i].secret}` } });
    const answers = await Promise.all([0, 1].map((i) => say(gateway, messages, bearer(i))));
    assert.equal(answers[0].message.content, answers[1].message.content);
    messages.push(answers[0].message, user('more'));
    await Promise.all([0, 1].map((i) => say(gateway, messages, bearer(i))));
    const open = await say(gateway, [user('x'), ...messages.slice(1)], bearer(0));
    assert.equal(open.headers['x-callgate-session-state'], 'recovered');
    const chats = await chats_of(mock);
    assert.deepEqual(
      chats.slice(0, 2).map((chat) => texts(chat)[2]),
      ['more', 'more'],
    );
  });

  test('a session names it: the system prompt may change and is told again', async (t) => {
    const { mock, gateway } = await start(t);
    const system = (content) => ({ role: 'system', content });
    const session = { headers: { 'x-session-id': 's1' } };
    const first = await say(gateway, [system('Noon.'), user('first')], session);
    const rest = [user('first'), first.message, user('second')];
    const second = await say(gateway, [system('Night.'), ...rest], session);
    assert.equal(second.headers['x-callgate-session-state'], 'continued');
    const other = await say(gateway, [system('Night.'), ...rest], {
      headers: { 'session-id': 's2' },
    });
    assert.equal(other.headers['x-callgate-session-state'], 'recovered');
    const [chat] = await chats_of(mock);
    assert.equal(texts(chat)[2], '[system]\nNight.\n\n[user]\nsecond');
  });

  test('the older rule names the parent that came with the answer', async (t) => {
    const mock = await start_mock(t, kEcho);
    const recorder = await start_recorder(t, mock);
    const gateway = await start_gateway(
      t,
      to_config(recorder.url, { upstream: { parent_rule: 'created_parent' } }),
      kEnv,
    );
    const first = await say(gateway, [user('first')]);
    await say(gateway, [user('first'), first.message, user('second')]);
    assert.equal(JSON.parse(recorder.requests.at(-1).text).parent_id, 'msg-1');
    assert.deepEqual(
      (await chat_of(mock, 'chat-1')).messages.map((node) => node.parent_id),
      [null, 'msg-1', 'resp-1', 'msg-2'],
    );
  });
});

// Reads a few frames of a slow answer and leaves. Gives the text that was seen.
async function leave_early(gateway, messages) {
  const stream = await ChatStream.open(gateway.url, { model: 'm', messages });
  let text = '';
  for await (const frame of stream) {
    text += JSON.parse(frame.data).choices[0].delta.content ?? '';
    if (text.length >= 8) break;
  }
  stream.leave();
  return text;
}

describe('a client that leaves', () => {
  test('may go on from the part that it has, or ask again', async (t) => {
    const { mock, gateway } = await start(t);
    const asked = [user('be endless')];
    const seen = await leave_early(gateway, asked);
    const cut = await eventually('the upstream was stopped', async () => {
      const [, answer] = (await chat_of(mock, 'chat-1')).messages;
      return answer.status === 'cut' && answer;
    });
    assert.ok(cut.content.startsWith(seen), cut.content);
    const goes_on = await say(gateway, [
      ...asked,
      { role: 'assistant', content: seen.slice(0, 5) },
      user('go on'),
    ]);
    assert.equal(goes_on.headers['x-callgate-session-state'], 'continued');
    const again = await ChatStream.open(gateway.url, { model: 'm', messages: asked });
    assert.equal(again.headers['x-callgate-session-state'], 'new');
    again.leave();
    const chat = await chat_of(mock, 'chat-1');
    assert.equal(chat.messages.find((node) => node.content === 'go on').parent_id, cut.id);
  });
});

describe('two requests of one conversation at a time', () => {
  const ask_twice = async (gateway) => {
    const first = await say(gateway, [user('first')]);
    const more = [user('first'), first.message, user('be slow')];
    return Promise.all([say(gateway, more, { stream: true }), say(gateway, more)]);
  };

  test('run one after the other', async (t) => {
    const { mock, gateway } = await start(t);
    const answers = await ask_twice(gateway);
    assert.deepEqual(
      answers.map((answer) => answer.status),
      [200, 200],
    );
    const chat = await chat_of(mock, 'chat-1');
    assert.equal(chat.overlaps, 0);
    assert.equal(chat.messages.length, 6);
  });

  test('or the second is refused', async (t) => {
    const { gateway } = await start(t, { upstream: { conversation_conflict: 'refuse' } });
    const answers = await ask_twice(gateway);
    assert.deepEqual(answers.map((answer) => answer.status).sort(), [200, 409]);
  });
});

test('tools in the prompt are told once, and again when they change', async (t) => {
  const mock = await start_mock(t, `${kScript}\nrule more\n  text "Fine."`);
  const gateway = await start_gateway(t, to_config(mock.url, { model: { tools: 'prompt' } }), kEnv);
  const messages = [{ role: 'system', content: 'Be brief.' }, user('Hello')];
  const told = [/^\[system\]\nBe brief\.[^]*get_weather[^]*city[^]*\n\n\[user\]\nHello$/];
  for (const turn of kTurns) {
    const { message, headers } = await say(gateway, messages, { stream: true });
    assert.equal(headers['x-callgate-dropped'], undefined);
    const calls = message.tool_calls ?? [];
    assert.deepEqual(
      calls.map((call) => [call.function.name, JSON.parse(call.function.arguments)]),
      turn.calls,
    );
    messages.push(message);
    if (calls.length === 0) messages.push(user('And the weather?'));
    for (const [n, { id }] of calls.entries())
      messages.push({ role: 'tool', tool_call_id: id, content: `result ${n}` });
    const results = calls.map(({ id }, n) => `${id}[^]*result ${n}`).join('[^]*');
    told.push(calls.length === 0 ? /^And the weather\?$/ : new RegExp(`^(?!\\[)[^]*${results}`));
  }
  await say(gateway, messages, { tools: kTools.slice(0, 1) });
  const [chat, ...more] = await chats_of(mock);
  assert.deepEqual(more, []);
  const posts = chat.messages.filter((node) => node.role === 'user');
  told.slice(0, 4).forEach((pattern, i) => assert.match(posts[i].content, pattern));
  assert.match(posts[4].content, /^\[system\]\nBe brief\.[^]*\n\n\[user\]\nAnd the weather\?$/);
});

test('failures are told without a word of the credentials', async (t) => {
  const bodies = {
    'bot check': ['<html>check</html>', 'text/html', 503, /bot check/],
    'rate limit': [
      '{"success":false,"data":{"code":"RateLimited","details":"Wait.","num":2}}',
      'application/json',
      429,
      /Wait\./,
    ],
    refused: [
      'data: {"error":{"code":"unauthorized","details":"secret-token-1 is no good"}}\n\n',
      'text/event-stream',
      502,
      /refused callgate's credentials/,
    ],
  };
  let body;
  let broken_start = false;
  const upstream = await start_upstream(t, (request, response) => {
    const is_new = request.url.endsWith('/new');
    const [text, type] =
      is_new && !broken_start ? ['{"data":{"id":"c1"}}', 'application/json'] : body;
    response.writeHead(200, { 'content-type': type }).end(text);
  });
  for (const [what, [text, type, status, message]] of Object.entries(bodies)) {
    for (broken_start of [false, true]) {
      if (broken_start && what === 'refused') continue;
      body = [text, type];
      // One of its own for each: what an upstream says of its limits holds for later requests.
      const gateway = await start_gateway(t, to_config(upstream.url, { model: { retries: 0 } }), kEnv);
      const answer = await say(gateway, [user('x')]);
      assert.equal(answer.status, status, what);
      check_error(answer.error, { message });
      assert.ok(!JSON.stringify(answer.error).includes('secret'), what);
      assert.ok(!gateway.log.includes('secret'), gateway.log);
    }
  }
});

test('the demo has a model that keeps conversations', async (t) => {
  const gateway = await new Program(t, [
    'serve',
    '--demo',
    '--listen',
    '127.0.0.1:0',
    '--set',
    'store.url=none',
  ]).ready();
  const first = await say(gateway, [user('Weather in Paris?')], { model: 'demo-qwen_web' });
  const [call] = first.message.tool_calls;
  const last = await say(
    gateway,
    [
      user('Weather in Paris?'),
      first.message,
      { role: 'tool', tool_call_id: call.id, content: '18' },
    ],
    { model: 'demo-qwen_web', stream: true },
  );
  assert.equal(last.headers['x-callgate-session-state'], 'continued');
  assert.equal(last.message.content, 'get_weather says: 18');
});
