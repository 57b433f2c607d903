// The openai_responses wire format: a conversation of Chat Completions behind which the Responses API is spoken, and the
// official SDK of that API against the mock.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import OpenAI from 'openai';
import { check_error } from './chat_contract.mjs';
import { file_scope, start_gateway, start_mock } from './harness.mjs';
import { ChatStream, post } from './http.mjs';
import { ask_whole, hold_turns, start_recorder } from './wire_turns.mjs';

const kScript = String.raw`
model gpt
cut text words
cut arguments 9
rule broken
  when model broken
  when user contains "midway"
  fault error_mid
  text "a b c"
rule event
  when model broken
  when user contains "event"
  fault error_event
  text "a b c"
rule limited
  when model broken
  header retry-after: 7
  status 429
rule cut_off
  when user contains "cut off"
  text "Once upon"
  finish length
rule refused
  when user contains "refuse"
  refusal "I will not."
rule hello
  when turn 0
  text "Hello there."
  usage prompt=20 completion=4
rule one_call
  when turn 1
  reasoning "The weather is asked for."
  text "Let me look."
  call get_weather {"city": "Zürich 🌤", "n": 12345678901234567890} id=call_1
  usage prompt=130 completion=30 cached=100 cache_write=10 reasoning=6
rule two_calls
  when turn 2
  when last tool
  reasoning "A sum."
  call add {"a": 1, "b": 2} id=call_2
  call get_weather {} id=call_3
  usage prompt=180 completion=25
rule answer
  when turn 3
  when tool contains "no city"
  text "It is 18 °C, and the sum is 3."
  usage prompt=220 completion=12
`;

const kArguments = '{"city": "Zürich 🌤", "n": 12345678901234567890}';
const kSealed = { weather: 'enc_0d427825fa09009b', sum: 'enc_9dcb1edb35ed57db' };

// What a reasoning item is to the client. Its id holds that of the response.
const details = (summary, data) => {
  const format = 'openai-responses-v1';
  return [
    { type: 'reasoning.summary', summary, id: 'rs_0', format, index: 0 },
    { type: 'reasoning.encrypted', data, id: 'rs_0', format, index: 0 },
  ];
};
const reasoning = (text, data) => ({
  type: 'reasoning',
  id: 'rs_0',
  summary: [{ type: 'summary_text', text }],
  encrypted_content: data,
});

const kSchema = { type: 'object', properties: { city: { type: 'string' } } };
const kTools = [
  {
    type: 'function',
    function: { name: 'get_weather', description: 'Weather', parameters: kSchema },
  },
  { type: 'function', function: { name: 'add', strict: true } },
];
const kWireTools = [
  {
    type: 'function',
    name: 'get_weather',
    description: 'Weather',
    parameters: kSchema,
    strict: false,
  },
  { type: 'function', name: 'add', parameters: { type: 'object', properties: {} }, strict: true },
];

const call = (id, name, text) => ({ id, type: 'function', function: { name, arguments: text } });
const called = (call_id, name, text) => ({
  type: 'function_call',
  call_id,
  name,
  arguments: text,
});
const result = (call_id, output) => ({ type: 'function_call_output', call_id, output });
const message = (role, text) => ({
  type: 'message',
  role,
  content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
});

// What each turn sees as new messages, the deltas that a stream has, what it adds up to, and the items that are sent.
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
    sent: [message('system', 'Be brief.'), message('user', 'Hello')],
  },
  {
    asks: [
      { role: 'developer', content: 'Now in Celsius.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'How is the weather?' },
          {
            type: 'image_url',
            image_url: { url: 'data:image/png;base64,iVBORw==', detail: 'low' },
          },
        ],
      },
    ],
    deltas: [
      { reasoning_content: 'The ' },
      { reasoning_content: 'weather ' },
      { reasoning_content: 'is ' },
      { reasoning_content: 'asked ' },
      { reasoning_content: 'for.' },
      { reasoning_details: details('The weather is asked for.', kSealed.weather) },
      { content: 'Let' },
      { content: ' me' },
      { content: ' look.' },
      { index: 0, id: 'call_1', name: 'get_weather', arguments: '' },
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
      reasoning_details: details('The weather is asked for.', kSealed.weather),
      tool_calls: [call('call_1', 'get_weather', kArguments)],
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
      message('assistant', 'Hello there.'),
      message('developer', 'Now in Celsius.'),
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'How is the weather?' },
          { type: 'input_image', image_url: 'data:image/png;base64,iVBORw==', detail: 'low' },
        ],
      },
    ],
  },
  {
    asks: [{ role: 'tool', tool_call_id: 'call_1', content: '18 °C' }],
    deltas: [
      { reasoning_content: 'A ' },
      { reasoning_content: 'sum.' },
      { reasoning_details: details('A sum.', kSealed.sum) },
      { index: 0, id: 'call_2', name: 'add', arguments: '' },
      { index: 0, arguments: '{"a": 1, ' },
      { index: 0, arguments: '"b": 2}' },
      { index: 1, id: 'call_3', name: 'get_weather', arguments: '' },
      { index: 1, arguments: '{}' },
    ],
    message: {
      content: null,
      reasoning_content: 'A sum.',
      reasoning_details: details('A sum.', kSealed.sum),
      tool_calls: [call('call_2', 'add', '{"a": 1, "b": 2}'), call('call_3', 'get_weather', '{}')],
    },
    finish: 'tool_calls',
    usage: { prompt_tokens: 180, completion_tokens: 25, total_tokens: 205 },
    sent: [
      reasoning('The weather is asked for.', kSealed.weather),
      message('assistant', 'Let me look.'),
      called('call_1', 'get_weather', kArguments),
      result('call_1', '18 °C'),
    ],
  },
  {
    asks: [
      { role: 'tool', tool_call_id: 'call_2', content: '3' },
      {
        role: 'tool',
        tool_call_id: 'call_3',
        content: [
          { type: 'text', text: 'no city' },
          { type: 'image_url', image_url: { url: 'https://x/map.png' } },
        ],
      },
      { role: 'user', content: 'Well?' },
    ],
    deltas: ['It', ' is', ' 18', ' °C,', ' and', ' the', ' sum', ' is', ' 3.'].map((content) => ({
      content,
    })),
    message: { content: 'It is 18 °C, and the sum is 3.' },
    finish: 'stop',
    usage: { prompt_tokens: 220, completion_tokens: 12, total_tokens: 232 },
    sent: [
      reasoning('A sum.', kSealed.sum),
      called('call_2', 'add', '{"a": 1, "b": 2}'),
      called('call_3', 'get_weather', '{}'),
      result('call_2', '3'),
      result('call_3', [
        { type: 'input_text', text: 'no city' },
        { type: 'input_image', image_url: 'https://x/map.png' },
      ]),
      message('user', 'Well?'),
    ],
  },
];

const scope = file_scope();
let mock;
before(async () => {
  mock = await start_mock(scope, kScript);
});

async function start_pair(t, { upstream = {} } = {}) {
  const recorder = await start_recorder(t, mock);
  const gateway = await start_gateway(t, {
    upstream: [
      { name: 'main', wire: 'openai_responses', url: recorder.v1, key: 'sk-secret', ...upstream },
    ],
    model: ['gpt', 'broken'].map((name) => ({ name, upstream: 'main', retries: 0 })),
  });
  return { gateway, url: `${gateway.v1}/chat/completions`, requests: recorder.requests };
}

// Reasoning items are named after the response: only their first part says which they are.
const plain_ids = (value) =>
  JSON.parse(JSON.stringify(value).replaceAll(/"rs_\w+_0"/g, '"rs_0"'));

describe('a conversation of four turns', () => {
  for (const stream of [true, false]) {
    test(stream ? 'streamed' : 'whole', async (t) => {
      await hold_turns(await start_pair(t), kTurns, {
        stream,
        plain: plain_ids,
        body: { model: 'gpt', tools: kTools, max_tokens: 1000 },
        check_request: (request, sent) => {
          assert.equal(`${request.method} ${request.url}`, 'POST /v1/responses');
          assert.equal(request.headers.authorization, 'Bearer sk-secret');
          assert.equal(request.headers['content-type'], 'application/json');
          assert.deepEqual(JSON.parse(request.text), {
            model: 'gpt',
            input: sent,
            tools: kWireTools,
            max_output_tokens: 1000,
            store: false,
            include: ['reasoning.encrypted_content'],
            ...(stream ? { stream: true } : {}),
          });
        },
      });
    });
  }
});

describe('around the conversation', () => {
  const body = { model: 'gpt', messages: [{ role: 'user', content: 'Hello' }] };
  const asking = (content, more) => ({ ...body, messages: [{ role: 'user', content }], ...more });

  test('what cannot be carried is told, or refused', async (t) => {
    const odd = { ...body, stop: ['END'], seed: 7, reasoning_effort: 'low', verbosity: 'low' };
    const warned = await start_pair(t);
    const answer = await post(warned.url, odd);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['x-callgate-dropped'], 'stop, seed');
    const sent = JSON.parse(warned.requests[0].text);
    assert.deepEqual(sent.reasoning, { effort: 'low' });
    assert.deepEqual(sent.text, { verbosity: 'low' });
    const strict = await start_pair(t, { upstream: { dropped_fields: 'refuse' } });
    const refused = await post(strict.url, odd);
    assert.equal(refused.status, 400);
    check_error(refused.json(), { param: 'stop', message: /openai_responses/ });
    assert.equal(strict.requests.length, 0);
  });

  test('an answer that was cut off, and one that was refused', async (t) => {
    const { url } = await start_pair(t);
    const cut = await ask_whole(url, asking('cut off'));
    assert.equal(cut.finish, 'length');
    assert.equal(cut.message.content, 'Once upon');
    const refused = await ask_whole(url, asking('refuse'));
    assert.equal(refused.message.refusal, 'I will not.');
    assert.equal(refused.message.content, null);
  });

  test('errors keep their status and words, before and inside the stream', async (t) => {
    const { gateway, url } = await start_pair(t);
    const before_stream = await post(url, { ...body, model: 'broken' });
    assert.equal(before_stream.status, 429);
    assert.equal(before_stream.headers['retry-after'], '7');
    check_error(before_stream.json(), {
      type: 'rate_limit_exceeded',
      message: /scripted status 429/,
    });
    for (const content of ['midway', 'event']) {
      const stream = await ChatStream.open(gateway.url, {
        ...asking(content, { model: 'broken' }),
        stream: true,
      });
      for await (const _ of stream);
      const data = stream.frames.map((frame) => frame.data);
      assert.equal(data.at(-1), '[DONE]');
      check_error(JSON.parse(data.at(-2)), {
        code: 'server_error',
        message: /^The server had an error\.$/,
      });
    }
  });
});

describe('the official SDK reads the mock', () => {
  const question = [
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: 'Hello there.' },
    { role: 'user', content: 'How is the weather?' },
  ];
  const usage = {
    input_tokens: 130,
    input_tokens_details: { cached_tokens: 100, cache_write_tokens: 10 },
    output_tokens: 30,
    output_tokens_details: { reasoning_tokens: 6 },
    total_tokens: 160,
  };
  let client;
  before(() => {
    client = new OpenAI({ apiKey: 'k', baseURL: mock.v1, maxRetries: 0, timeout: 20_000 });
  });
  const asked = (input) => ({ model: 'gpt', input, tools: kWireTools });

  function check_output(response) {
    assert.equal(response.status, 'completed');
    assert.equal(response.output_text, 'Let me look.');
    assert.deepEqual(
      response.output.map((item) => item.type),
      ['reasoning', 'message', 'function_call'],
    );
    const [thought, , made] = response.output;
    assert.equal(thought.summary[0].text, 'The weather is asked for.');
    assert.equal(thought.encrypted_content, kSealed.weather);
    assert.equal(made.call_id, 'call_1');
    assert.equal(made.arguments, kArguments);
    assert.deepEqual(response.usage, usage);
  }

  test('whole', async () => {
    check_output(await client.responses.create(asked(question)));
    const spoken = await client.responses.create({
      model: 'gpt',
      instructions: 'Be brief.',
      input: 'Hello',
    });
    assert.equal(spoken.output_text, 'Hello there.');
  });

  test('streamed, event by event', async () => {
    const types = [];
    let sequence = 0;
    for await (const event of await client.responses.create({ ...asked(question), stream: true })) {
      assert.equal(event.sequence_number, sequence++);
      if (types.at(-1) !== event.type) types.push(event.type);
    }
    assert.deepEqual(types, [
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.reasoning_summary_part.added',
      'response.reasoning_summary_text.delta',
      'response.reasoning_summary_text.done',
      'response.reasoning_summary_part.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.completed',
    ]);
  });

  test('streamed, with the results sent back', async () => {
    const stream = client.responses.stream(asked(question));
    let said = '';
    stream.on('response.output_text.delta', (event) => (said += event.delta));
    const response = await stream.finalResponse();
    assert.equal(said, 'Let me look.');
    check_output(response);
    const input = [...question, ...response.output, result('call_1', '18 °C')];
    const next = await client.responses.stream(asked(input)).finalResponse();
    const calls = next.output.filter((item) => item.type === 'function_call');
    assert.deepEqual(
      calls.map((item) => [item.call_id, item.name, item.arguments]),
      [
        ['call_2', 'add', '{"a": 1, "b": 2}'],
        ['call_3', 'get_weather', '{}'],
      ],
    );
  });

  test('cut off, refused and failed', async () => {
    const cut = await client.responses.stream({ model: 'gpt', input: 'cut off' }).finalResponse();
    assert.equal(cut.status, 'incomplete');
    assert.equal(cut.incomplete_details.reason, 'max_output_tokens');
    const refused = await client.responses
      .stream({ model: 'gpt', input: 'refuse' })
      .finalResponse();
    assert.equal(refused.output[0].content[0].refusal, 'I will not.');
    const failed = await client.responses
      .stream({ model: 'broken', input: 'midway' })
      .finalResponse();
    assert.equal(failed.status, 'failed');
    assert.equal(failed.error.code, 'server_error');
    await assert.rejects(
      client.responses.stream({ model: 'broken', input: 'event' }).finalResponse(),
      /The server had an error/,
    );
    await assert.rejects(client.responses.create({ model: 'broken', input: 'now' }), (error) => {
      assert.equal(error.status, 429);
      assert.equal(error.type, 'rate_limit_exceeded');
      return true;
    });
  });
});
