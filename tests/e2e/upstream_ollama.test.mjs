// The ollama wire format: a conversation of Chat Completions behind which /api/chat is spoken, with a server that has call
// ids and with an older one, and the official client against the mock.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { Ollama } from 'ollama';
import { check_error } from './chat_contract.mjs';
import { file_scope, start_gateway, start_mock } from './harness.mjs';
import { ChatStream, post } from './http.mjs';
import { hold_turns, start_recorder } from './wire_turns.mjs';

// `faults` of a server; the rules are those of every server.
const to_script = (faults) => String.raw`
model qwen3
cut text words
${faults}
rule broken
  when model broken
  when user contains "midway"
  fault error_mid
  text "a b c"
rule missing
  when model broken
  header retry-after: 7
  status 503
rule hello
  when turn 0
  text "Hello there."
  usage prompt=20 completion=4
rule one_call
  when turn 1
  reasoning "The weather is asked for."
  text "Let me look."
  call get_weather {"city":"Zürich 🌤","n":12345678901234567890} id=call_1
  usage prompt=130 completion=30
rule two_calls
  when turn 2
  when last tool
  call add {"a":1,"b":2} id=call_2
  call get_weather {} id=call_3
  usage prompt=180 completion=25
rule answer
  when turn 3
  when tool contains "no city"
  text "It is 18 °C, and the sum is 3."
  usage prompt=220 completion=12
`;

const kSchema = { type: 'object', properties: { city: { type: 'string' } } };
const kTools = [
  {
    type: 'function',
    function: { name: 'get_weather', description: 'Weather', parameters: kSchema },
  },
  { type: 'function', function: { name: 'add' } },
];
const kWireTools = [
  kTools[0],
  {
    type: 'function',
    function: { name: 'add', parameters: { type: 'object', properties: {} } },
  },
];
const kArguments = '{"city":"Zürich 🌤","n":12345678901234567890}';

const call = (id, name, text) => ({ id, type: 'function', function: { name, arguments: text } });
const wire_call = (id, name, object) => ({ id, function: { name, arguments: object } });

// The turns with these ids of the three calls: what each sees as new messages, the deltas that a stream has, what it adds
// up to, and what the upstream is told anew.
const to_turns = ([one, two, three]) => [
  {
    asks: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hello' },
    ],
    deltas: [{ content: 'Hello' }, { content: ' there.' }],
    message: { content: 'Hello there.' },
    finish: 'stop',
    usage: { prompt_tokens: 20, completion_tokens: 4, total_tokens: 24 },
    sent: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hello' },
    ],
  },
  {
    asks: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'How is the weather?' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw==' } },
        ],
      },
    ],
    deltas: [
      ...['The ', 'weather ', 'is ', 'asked ', 'for.'].map((text) => ({ reasoning_content: text })),
      ...['Let', ' me', ' look.'].map((content) => ({ content })),
      { index: 0, id: one, name: 'get_weather', arguments: '' },
      { index: 0, arguments: kArguments },
    ],
    message: {
      content: 'Let me look.',
      reasoning_content: 'The weather is asked for.',
      tool_calls: [call(one, 'get_weather', kArguments)],
    },
    finish: 'tool_calls',
    usage: { prompt_tokens: 130, completion_tokens: 30, total_tokens: 160 },
    sent: [
      { role: 'assistant', content: 'Hello there.' },
      { role: 'user', content: 'How is the weather?', images: ['iVBORw=='] },
    ],
  },
  {
    asks: [{ role: 'tool', tool_call_id: one, content: '18 °C' }],
    deltas: [
      { index: 0, id: two, name: 'add', arguments: '' },
      { index: 0, arguments: '{"a":1,"b":2}' },
      { index: 1, id: three, name: 'get_weather', arguments: '' },
      { index: 1, arguments: '{}' },
    ],
    message: {
      content: null,
      tool_calls: [call(two, 'add', '{"a":1,"b":2}'), call(three, 'get_weather', '{}')],
    },
    finish: 'tool_calls',
    usage: { prompt_tokens: 180, completion_tokens: 25, total_tokens: 205 },
    sent: [
      {
        role: 'assistant',
        content: 'Let me look.',
        thinking: 'The weather is asked for.',
        tool_calls: [
          wire_call(one, 'get_weather', { city: 'Zürich 🌤', n: 12345678901234567890 }),
        ],
      },
      { role: 'tool', content: '18 °C', tool_name: 'get_weather', tool_call_id: one },
    ],
  },
  {
    // The results come in another order than the calls.
    asks: [
      { role: 'tool', tool_call_id: three, content: 'no city' },
      { role: 'tool', tool_call_id: two, content: '3' },
      { role: 'user', content: 'Well?' },
    ],
    deltas: ['It', ' is', ' 18', ' °C,', ' and', ' the', ' sum', ' is', ' 3.'].map((content) => ({
      content,
    })),
    message: { content: 'It is 18 °C, and the sum is 3.' },
    finish: 'stop',
    usage: { prompt_tokens: 220, completion_tokens: 12, total_tokens: 232 },
    sent: [
      {
        role: 'assistant',
        content: '',
        tool_calls: [
          wire_call(two, 'add', { a: 1, b: 2 }),
          wire_call(three, 'get_weather', {}),
        ],
      },
      { role: 'tool', content: '3', tool_name: 'add', tool_call_id: two },
      { role: 'tool', content: 'no city', tool_name: 'get_weather', tool_call_id: three },
      { role: 'user', content: 'Well?' },
    ],
  },
];

const scope = file_scope();
let mock;
let old_mock;
before(async () => {
  mock = await start_mock(scope, to_script(''));
  old_mock = await start_mock(scope, to_script('fault no_id no_index'));
});

async function start_pair(t, { server = mock, upstream = {} } = {}) {
  const recorder = await start_recorder(t, server);
  const gateway = await start_gateway(t, {
    upstream: [{ name: 'main', wire: 'ollama', url: recorder.url, key: 'sk-secret', ...upstream }],
    model: ['qwen3', 'broken'].map((name) => ({ name, upstream: 'main', retries: 0 })),
  });
  return { gateway, url: `${gateway.v1}/chat/completions`, requests: recorder.requests };
}

// `ids`: those of the server, or none where callgate makes them up.
async function hold_conversation(t, { stream, server, ids }) {
  const pair = await start_pair(t, { server });
  const known = await hold_turns(pair, to_turns, {
    stream,
    body: { model: 'qwen3', tools: kTools, max_tokens: 1000 },
    check_request: (request, sent, i) => {
      assert.equal(`${request.method} ${request.url}`, 'POST /api/chat');
      assert.equal(request.headers.authorization, 'Bearer sk-secret');
      assert.equal(request.headers['content-type'], 'application/json');
      assert.deepEqual(JSON.parse(request.text), {
        model: 'qwen3',
        messages: sent,
        tools: kWireTools,
        stream,
        options: { num_predict: 1000 },
      });
      if (i > 1) assert.ok(request.text.includes('12345678901234567890'), 'no digit is lost');
    },
  });
  assert.equal(new Set(known).size, 3);
  if (ids) assert.deepEqual(known, ids);
  return known;
}

describe('a conversation of four turns', () => {
  for (const stream of [true, false]) {
    const how = stream ? 'streamed' : 'whole';
    test(`${how}, with the ids of the server`, async (t) => {
      await hold_conversation(t, { stream, server: mock, ids: ['call_1', 'call_2', 'call_3'] });
    });
    test(`${how}, with a server that has none`, async (t) => {
      const known = await hold_conversation(t, { stream, server: old_mock });
      for (const id of known) assert.match(id, /^call_[A-Za-z0-9]{10,}$/);
    });
  }
});

describe('around the conversation', () => {
  const body = { model: 'qwen3', messages: [{ role: 'user', content: 'Hello' }] };

  test('what cannot be carried is told, or refused', async (t) => {
    const url = { url: 'https://host/x.png' };
    const odd = {
      ...body,
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: url }] }],
      tools: kTools,
      tool_choice: 'required',
      parallel_tool_calls: false,
      user: 'u',
      seed: 7,
    };
    const warned = await start_pair(t);
    const answer = await post(warned.url, odd);
    assert.equal(answer.status, 200);
    assert.equal(
      answer.headers['x-callgate-dropped'],
      'parallel_tool_calls, user, messages[0].content[0], tool_choice',
    );
    assert.deepEqual(JSON.parse(warned.requests[0].text).options, { seed: 7 });
    const strict = await start_pair(t, { upstream: { dropped_fields: 'refuse' } });
    const refused = await post(strict.url, odd);
    assert.equal(refused.status, 400);
    check_error(refused.json(), { param: 'messages[0].content[0]', message: /ollama/ });
    assert.equal(strict.requests.length, 0);
    const { status } = await post(strict.url, { ...body, parallel_tool_calls: false });
    assert.equal(status, 200, 'callgate itself keeps to one call');
  });

  test('errors keep their status and words, before and inside the stream', async (t) => {
    const { gateway, url } = await start_pair(t);
    const before_stream = await post(url, { ...body, model: 'broken' });
    assert.equal(before_stream.status, 503);
    assert.equal(before_stream.headers['retry-after'], '7');
    check_error(before_stream.json(), { message: /scripted status 503/ });
    const stream = await ChatStream.open(gateway.url, {
      model: 'broken',
      stream: true,
      messages: [{ role: 'user', content: 'midway' }],
    });
    for await (const _ of stream);
    const data = stream.frames.map((frame) => frame.data);
    assert.equal(data.at(-1), '[DONE]');
    check_error(JSON.parse(data.at(-2)), { message: /while running the model/ });
  });
});

describe('the official client reads the mock', () => {
  const question = [
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: 'Hello there.' },
    { role: 'user', content: 'How is the weather?', images: [Buffer.from([0x89, 0x50])] },
  ];
  const asked = (messages) => ({ model: 'qwen3', messages, tools: kWireTools, think: true });
  const made = ({ function: { name, arguments: given } }) => [name, given];
  let client;
  before(() => {
    client = new Ollama({ host: mock.url });
  });

  test('whole', async () => {
    const answer = await client.chat(asked(question));
    assert.equal(answer.message.content, 'Let me look.');
    assert.equal(answer.message.thinking, 'The weather is asked for.');
    assert.deepEqual(answer.message.tool_calls.map(made), [
      ['get_weather', { city: 'Zürich 🌤', n: 12345678901234567890 }],
    ]);
    assert.equal(answer.done, true);
    assert.equal(answer.done_reason, 'stop');
    assert.equal(answer.prompt_eval_count, 130);
    assert.equal(answer.eval_count, 30);
    assert.ok(!Number.isNaN(Date.parse(answer.created_at)));
  });

  test('streamed, with the results sent back', async () => {
    const messages = [...question];
    const calls = [];
    let said = '';
    let thought = '';
    for (const result of ['18 °C', 'no city', '']) {
      const message = { role: 'assistant', content: '', thinking: '', tool_calls: [] };
      for await (const part of await client.chat({ ...asked(messages), stream: true })) {
        message.content += part.message.content;
        message.thinking += part.message.thinking ?? '';
        message.tool_calls.push(...(part.message.tool_calls ?? []));
      }
      said += message.content;
      thought += message.thinking;
      calls.push(...message.tool_calls.map(made));
      messages.push(message);
      for (const { function: wanted } of message.tool_calls) {
        messages.push({ role: 'tool', tool_name: wanted.name, content: result });
      }
    }
    assert.equal(said, 'Let me look.It is 18 °C, and the sum is 3.');
    assert.equal(thought, 'The weather is asked for.');
    assert.deepEqual(calls.slice(1), [
      ['add', { a: 1, b: 2 }],
      ['get_weather', {}],
    ]);
  });

  test('what it tells of itself', async () => {
    assert.deepEqual(
      (await client.list()).models.map(({ name }) => name),
      ['qwen3'],
    );
    assert.match((await client.version()).version, /^\d+\.\d+\.\d+$/);
    assert.ok((await client.show({ model: 'qwen3' })).capabilities.includes('tools'));
    await assert.rejects(client.show({ model: 'none' }), /not found/);
  });

  test('errors', async () => {
    const failing = (content) => ({ model: 'broken', messages: [{ role: 'user', content }] });
    await assert.rejects(client.chat(failing('now')), (error) => {
      assert.equal(error.status_code, 503);
      assert.equal(error.error, 'scripted status 503');
      return true;
    });
    await assert.rejects(async () => {
      for await (const _ of await client.chat({ ...failing('midway'), stream: true }));
    }, /while running the model/);
  });
});
