// The anthropic_messages wire format: a conversation of Chat Completions behind which the Messages API is spoken, and
// the official SDK of that API against the mock.
import Anthropic from '@anthropic-ai/sdk';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { check_error } from './chat_contract.mjs';
import { file_scope, start_gateway, start_mock } from './harness.mjs';
import { ChatStream, post } from './http.mjs';
import { hold_turns, start_recorder } from './wire_turns.mjs';

const kScript = String.raw`
model claude
cut text words
cut arguments 9
rule broken
  when model broken
  when user contains "midway"
  fault error_mid
  text "a b c"
rule overloaded
  when model broken
  header retry-after: 7
  status 529
rule hello
  when turn 0
  text "Hello there."
  usage prompt=20 completion=4
rule one_call
  when turn 1
  reasoning "The weather is asked for."
  text "Let me look."
  call get_weather {"city": "Zürich 🌤", "n": 12345678901234567890} id=toolu_1
  usage prompt=130 completion=30 cached=100 cache_write=10 reasoning=6
rule two_calls
  when turn 2
  when last tool
  call add {"a": 1, "b": 2} id=toolu_2
  call get_weather {} id=toolu_3
  usage prompt=180 completion=25
rule answer
  when turn 3
  when tool contains "no city"
  text "It is 18 °C, and the sum is 3."
  usage prompt=220 completion=12
`;

// `thinking` signs what it thinks; the same text has the same signature.
const kThought = {
  type: 'reasoning.text',
  text: 'The weather is asked for.',
  signature: 'sig_0d427825fa09009b',
  format: 'anthropic-claude-v1',
  index: 0,
};

const kSchema = { type: 'object', properties: { city: { type: 'string' } } };
const kTools = [
  {
    type: 'function',
    function: { name: 'get_weather', description: 'Weather', parameters: kSchema },
  },
  { type: 'function', function: { name: 'add' } },
];
const kWireTools = [
  { name: 'get_weather', description: 'Weather', input_schema: kSchema },
  { name: 'add', input_schema: { type: 'object', properties: {} } },
];

const call = (id, name, text) => ({ id, type: 'function', function: { name, arguments: text } });
const text = (value) => ({ type: 'text', text: value });

// What each turn sees as new messages, the deltas that a stream has, and what it adds up to.
const kTurns = [
  {
    asks: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hello' },
    ],
    deltas: [{ content: 'Hello' }, { content: ' there.' }],
    message: { content: 'Hello there.' },
    finish: 'stop',
    usage: { prompt_tokens: 20, completion_tokens: 4, total_tokens: 24 },
    sent: [{ role: 'user', content: [text('Hello')] }],
  },
  {
    asks: [
      { role: 'user', content: 'How is the weather?' },
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw==' } }],
      },
    ],
    deltas: [
      { reasoning_content: 'The ' },
      { reasoning_content: 'weather ' },
      { reasoning_content: 'is ' },
      { reasoning_content: 'asked ' },
      { reasoning_content: 'for.' },
      { reasoning_details: [kThought] },
      { content: 'Let' },
      { content: ' me' },
      { content: ' look.' },
      { index: 0, id: 'toolu_1', name: 'get_weather', arguments: '' },
      { index: 0, arguments: '{"city": ' },
      { index: 0, arguments: '"Zürich ' },
      { index: 0, arguments: '🌤", "n' },
      { index: 0, arguments: '": 123456' },
      { index: 0, arguments: '789012345' },
      { index: 0, arguments: '67890}' },
    ],
    message: {
      content: 'Let me look.',
      reasoning_content: 'The weather is asked for.',
      reasoning_details: [kThought],
      tool_calls: [
        call('toolu_1', 'get_weather', '{"city": "Zürich 🌤", "n": 12345678901234567890}'),
      ],
    },
    finish: 'tool_calls',
    usage: {
      prompt_tokens: 130,
      completion_tokens: 30,
      total_tokens: 160,
      prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 6 },
    },
    sent: [
      { role: 'assistant', content: [text('Hello there.')] },
      {
        role: 'user',
        content: [
          text('How is the weather?'),
          {
            type: 'image',
            source: { type: 'base64', media_type: 'image/png', data: 'iVBORw==' },
          },
        ],
      },
    ],
  },
  {
    asks: [{ role: 'tool', tool_call_id: 'toolu_1', content: '18 °C' }],
    deltas: [
      { index: 0, id: 'toolu_2', name: 'add', arguments: '' },
      { index: 0, arguments: '{"a": 1, ' },
      { index: 0, arguments: '"b": 2}' },
      { index: 1, id: 'toolu_3', name: 'get_weather', arguments: '' },
      { index: 1, arguments: '{}' },
    ],
    message: {
      content: null,
      tool_calls: [
        call('toolu_2', 'add', '{"a": 1, "b": 2}'),
        call('toolu_3', 'get_weather', '{}'),
      ],
    },
    finish: 'tool_calls',
    usage: { prompt_tokens: 180, completion_tokens: 25, total_tokens: 205 },
    sent: [
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: kThought.text, signature: kThought.signature },
          text('Let me look.'),
          {
            type: 'tool_use',
            id: 'toolu_1',
            name: 'get_weather',
            input: { city: 'Zürich 🌤', n: 12345678901234567890 },
          },
        ],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: '18 °C' }],
      },
    ],
  },
  {
    asks: [
      { role: 'tool', tool_call_id: 'toolu_2', content: '3' },
      { role: 'tool', tool_call_id: 'toolu_3', content: 'no city', is_error: true },
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
        content: [
          { type: 'tool_use', id: 'toolu_2', name: 'add', input: { a: 1, b: 2 } },
          { type: 'tool_use', id: 'toolu_3', name: 'get_weather', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_2', content: '3' },
          { type: 'tool_result', tool_use_id: 'toolu_3', content: 'no city', is_error: true },
          text('Well?'),
        ],
      },
    ],
  },
];

const scope = file_scope();
let mock;
before(async () => {
  mock = await start_mock(scope, kScript);
});

async function start_pair(t, { upstream = {}, model = {} } = {}) {
  const recorder = await start_recorder(t, mock);
  const gateway = await start_gateway(t, {
    upstream: [
      { name: 'main', wire: 'anthropic_messages', url: recorder.v1, key: 'sk-secret', ...upstream },
    ],
    model: ['claude', 'broken'].map((name) => ({ name, upstream: 'main', retries: 0, ...model })),
  });
  const url = `${gateway.v1}/chat/completions`;
  return { gateway, url, requests: recorder.requests };
}

describe('a conversation of four turns', () => {
  for (const stream of [true, false]) {
    test(stream ? 'streamed' : 'whole', async (t) => {
      await hold_turns(await start_pair(t), kTurns, {
        stream,
        body: { model: 'claude', tools: kTools, max_tokens: 1000 },
        check_request: (request, sent, i) => {
          assert.equal(`${request.method} ${request.url}`, 'POST /v1/messages');
          assert.equal(request.headers['x-api-key'], 'sk-secret');
          assert.equal(request.headers.authorization, undefined);
          assert.equal(request.headers['anthropic-version'], '2023-06-01');
          assert.equal(request.headers['content-type'], 'application/json');
          assert.deepEqual(JSON.parse(request.text), {
            model: 'claude',
            max_tokens: 1000,
            system: [text('Be brief.')],
            messages: sent,
            tools: kWireTools,
            ...(stream ? { stream: true } : {}),
          });
          if (i > 1) assert.ok(request.text.includes('12345678901234567890'), 'no digit is lost');
        },
      });
    });
  }
});

describe('around the conversation', () => {
  const body = { model: 'claude', messages: [{ role: 'user', content: 'Hello' }] };

  test('the key can be a bearer token and the version another', async (t) => {
    const { url, requests } = await start_pair(t, {
      upstream: {
        auth: 'bearer',
        headers: { 'Anthropic-Version': '2026-10-21', 'anthropic-beta': 'x-1' },
      },
    });
    assert.equal((await post(url, body)).status, 200);
    const names = requests[0].rawHeaders.filter((_, i) => i % 2 === 0).map((n) => n.toLowerCase());
    assert.deepEqual([...new Set(names)].sort(), [...names].sort(), 'every header comes once');
    assert.equal(requests[0].headers.authorization, 'Bearer sk-secret');
    assert.equal(requests[0].headers['x-api-key'], undefined);
    assert.equal(requests[0].headers['anthropic-version'], '2026-10-21');
    assert.equal(requests[0].headers['anthropic-beta'], 'x-1');
  });

  test('what cannot be carried is told, or refused', async (t) => {
    const odd = { ...body, seed: 7, user: 'u', temperature: 1.5, frequency_penalty: 0 };
    const warned = await start_pair(t);
    const answer = await post(warned.url, odd);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['x-callgate-dropped'], 'seed, temperature');
    const sent = JSON.parse(warned.requests[0].text);
    assert.equal(sent.temperature, 1);
    assert.deepEqual(sent.metadata, { user_id: 'u' });
    assert.equal(sent.max_tokens, 8192);
    const strict = await start_pair(t, { upstream: { dropped_fields: 'refuse' } });
    const refused = await post(strict.url, odd);
    assert.equal(refused.status, 400);
    check_error(refused.json(), { param: 'seed', message: /anthropic_messages/ });
    assert.equal(strict.requests.length, 0);
  });

  test('errors keep their status and words, before and inside the stream', async (t) => {
    const { gateway, url } = await start_pair(t);
    const before_stream = await post(url, { ...body, model: 'broken' });
    assert.equal(before_stream.status, 529);
    assert.equal(before_stream.headers['retry-after'], '7');
    check_error(before_stream.json(), { type: 'overloaded_error', message: /scripted status 529/ });
    const stream = await ChatStream.open(gateway.url, {
      model: 'broken',
      stream: true,
      messages: [{ role: 'user', content: 'midway' }],
    });
    for await (const _ of stream);
    const data = stream.frames.map((frame) => frame.data);
    assert.equal(data.at(-1), '[DONE]');
    check_error(JSON.parse(data.at(-2)), { type: 'overloaded_error', message: /^Overloaded$/ });
  });
});

test('the mock refuses a malformed request in the words of the API', async () => {
  const messages = [{ role: 'robot', content: 'Hello' }];
  const answer = await post(`${mock.url}/v1/messages`, { model: 'claude', max_tokens: 9, messages });
  assert.equal(answer.status, 400);
  const { type, error } = answer.json();
  assert.equal(type, 'error');
  assert.equal(error.type, 'invalid_request_error');
  assert.match(error.message, /^messages\.0\.role: /);
});

describe('the official SDK reads the mock', () => {
  const tools = kWireTools.map((tool) => ({ ...tool }));
  const question = [
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: 'Hello there.' },
    { role: 'user', content: 'How is the weather?' },
  ];
  const kContent = [
    { type: 'thinking', thinking: kThought.text, signature: kThought.signature },
    { type: 'text', text: 'Let me look.' },
    {
      type: 'tool_use',
      id: 'toolu_1',
      name: 'get_weather',
      input: { city: 'Zürich 🌤', n: 12345678901234567890 },
    },
  ];
  const known = (block) => {
    const { citations: _, ...rest } = block;
    return rest;
  };
  let client;
  before(() => {
    client = new Anthropic({ apiKey: 'k', baseURL: mock.url, maxRetries: 0, timeout: 20_000 });
  });
  const asked = (messages) => ({ model: 'claude', max_tokens: 100, messages, tools });

  test('whole', async () => {
    const message = await client.messages.create(asked(question));
    assert.deepEqual(message.content.map(known), kContent);
    assert.equal(message.stop_reason, 'tool_use');
    assert.equal(message.role, 'assistant');
    assert.match(message.id, /^msg_/);
    assert.equal(message.usage.input_tokens, 20);
    assert.equal(message.usage.cache_read_input_tokens, 100);
    assert.equal(message.usage.cache_creation_input_tokens, 10);
    assert.equal(message.usage.output_tokens, 30);
  });

  test('streamed, with the results sent back', async () => {
    const stream = client.messages.stream(asked(question));
    let said = '';
    let thought = '';
    stream.on('text', (delta) => (said += delta));
    stream.on('thinking', (delta) => (thought += delta));
    const message = await stream.finalMessage();
    assert.equal(said, 'Let me look.');
    assert.equal(thought, kThought.text);
    assert.deepEqual(message.content.map(known), kContent);
    assert.equal(message.stop_reason, 'tool_use');
    assert.equal(message.usage.output_tokens, 30);
    const next = await client.messages
      .stream(
        asked([
          ...question,
          { role: 'assistant', content: message.content },
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: '18 °C' }],
          },
        ]),
      )
      .finalMessage();
    assert.deepEqual(
      next.content.map((block) => [block.type, block.id, block.name, block.input]),
      [
        ['tool_use', 'toolu_2', 'add', { a: 1, b: 2 }],
        ['tool_use', 'toolu_3', 'get_weather', {}],
      ],
    );
  });

  test('its tool runner goes on to the end', async () => {
    const ran = [];
    const results = { get_weather: 'no city', add: '3' };
    const runner = client.beta.messages.toolRunner({
      ...asked(question),
      thread: false,
      stream: true,
      tools: tools.map((tool) => ({
        ...tool,
        parse: (input) => input,
        run: (input) => {
          ran.push([tool.name, input]);
          return results[tool.name];
        },
      })),
    });
    const messages = [];
    for await (const stream of runner) messages.push(await stream.finalMessage());
    assert.deepEqual(
      messages.map((message) => message.stop_reason),
      ['tool_use', 'tool_use', 'end_turn'],
    );
    assert.deepEqual(ran.slice(1), [
      ['add', { a: 1, b: 2 }],
      ['get_weather', {}],
    ]);
    assert.equal(messages.at(-1).content[0].text, 'It is 18 °C, and the sum is 3.');
  });

  test('errors', async () => {
    const failing = (content) => ({
      model: 'broken',
      max_tokens: 9,
      messages: [{ role: 'user', content }],
    });
    await assert.rejects(client.messages.stream(failing('midway')).finalMessage(), /Overloaded/);
    await assert.rejects(client.messages.create(failing('now')), (error) => {
      assert.equal(error.status, 529);
      assert.equal(error.error.error.type, 'overloaded_error');
      return true;
    });
  });
});
