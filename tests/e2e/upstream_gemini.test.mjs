// The gemini wire format: a conversation of Chat Completions behind which generateContent is spoken, with a server that
// gives calls ids and with one that does not, and the official SDK against the mock.
import { GoogleGenAI } from '@google/genai';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { check_error } from './chat_contract.mjs';
import { file_scope, start_gateway, start_mock } from './harness.mjs';
import { ChatStream, open, post } from './http.mjs';
import { start_upstream } from './upstream.mjs';
import { hold_turns, start_recorder } from './wire_turns.mjs';

// `faults` of a server; the rules are those of every server.
const to_script = (faults) => String.raw`
model gemini-3-flash
cut text words
${faults}
rule broken
  when model broken
  when user contains "midway"
  fault error_mid
  text "a b c"
rule exhausted
  when model broken
  status 429 {"error": {"code": 429, "message": "Quota exceeded.", "status": "RESOURCE_EXHAUSTED", "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "6.5s"}]}}
rule hello
  when turn 0
  reasoning "A greeting."
  text "Hello there."
  usage prompt=20 completion=4
rule one_call
  when turn 1
  reasoning "The weather is asked for."
  text "Let me look."
  call get_weather {"city":"Zürich 🌤","n":12345678901234567890} id=a1
  usage prompt=130 completion=30 cached=100 reasoning=6
rule two_calls
  when turn 2
  when last tool
  call add {"a":1,"b":2} id=a2
  call get_weather {} id=a3
  usage prompt=180 completion=25
rule answer
  when turn 3
  when tool contains "no city"
  text "It is 18 °C, and the sum is 3."
  usage prompt=220 completion=12
`;

const kSchema = { type: 'object', properties: { city: { type: 'string' } }, $schema: 'x' };
const kTools = [
  {
    type: 'function',
    function: { name: 'get_weather', description: 'Weather', parameters: kSchema },
  },
  { type: 'function', function: { name: 'add' } },
];
const kWireTools = [
  {
    functionDeclarations: [
      { name: 'get_weather', description: 'Weather', parametersJsonSchema: kSchema },
      { name: 'add' },
    ],
  },
];
const kArguments = '{"city":"Zürich 🌤","n":12345678901234567890}';
// The mock signs what was thought, or the first call of a turn; the same text has the same signature.
const kSignatures = ['sig_dcb786f6f10e6717', 'sig_8bc953f306c7ef55', 'sig_d44df5edae718d50'];

const call = (id, name, text) => ({ id, type: 'function', function: { name, arguments: text } });
const words = (list, key) => list.map((word) => ({ [key]: word }));

// The turns with these ids of the three calls, as the client knows them (`ids`) and as the server does (`own`): what each
// sees as new messages, the deltas that a stream has, what it adds up to, and what the upstream is told anew.
function to_turns([one, two, three], own) {
  const with_id = (i, rest) => (own ? { id: own[i], ...rest } : rest);
  const sealed = (data, rest) => ({
    type: 'reasoning.encrypted',
    data,
    format: 'google-gemini-v1',
    ...rest,
  });
  const greeting = sealed(kSignatures[0], { id: 'end' });
  const first = sealed(kSignatures[1], with_id(0, { index: 0 }));
  const second = sealed(kSignatures[2], with_id(1, { index: 0 }));
  const wire_call = (i, name, args, signature) => ({
    functionCall: with_id(i, { name, args }),
    ...(signature ? { thoughtSignature: signature } : {}),
  });
  const wire_result = (i, name, response) => ({
    functionResponse: with_id(i, { name, response }),
  });
  return [
    {
      asks: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
      ],
      deltas: [
        ...words(['A ', 'greeting.'], 'reasoning_content'),
        ...words(['Hello', ' there.'], 'content'),
        { reasoning_details: [greeting] },
      ],
      message: {
        content: 'Hello there.',
        reasoning_content: 'A greeting.',
        reasoning_details: [greeting],
      },
      finish: 'stop',
      usage: { prompt_tokens: 20, completion_tokens: 4, total_tokens: 24 },
      sent: [{ role: 'user', parts: [{ text: 'Hello' }] }],
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
        ...words(['The ', 'weather ', 'is ', 'asked ', 'for.'], 'reasoning_content'),
        ...words(['Let', ' me', ' look.'], 'content'),
        { reasoning_details: [first] },
        { index: 0, id: one, name: 'get_weather', arguments: '' },
        { index: 0, arguments: kArguments },
      ],
      message: {
        content: 'Let me look.',
        reasoning_content: 'The weather is asked for.',
        reasoning_details: [first],
        tool_calls: [call(one, 'get_weather', kArguments)],
      },
      finish: 'tool_calls',
      usage: {
        prompt_tokens: 130,
        completion_tokens: 30,
        total_tokens: 160,
        prompt_tokens_details: { cached_tokens: 100 },
        completion_tokens_details: { reasoning_tokens: 6 },
      },
      sent: [
        {
          role: 'model',
          parts: [{ text: 'Hello there.' }, { text: '', thoughtSignature: kSignatures[0] }],
        },
        {
          role: 'user',
          parts: [
            { text: 'How is the weather?' },
            { inlineData: { mimeType: 'image/png', data: 'iVBORw==' } },
          ],
        },
      ],
    },
    {
      asks: [{ role: 'tool', tool_call_id: one, content: '18 °C' }],
      deltas: [
        { reasoning_details: [second] },
        { index: 0, id: two, name: 'add', arguments: '' },
        { index: 0, arguments: '{"a":1,"b":2}' },
        { index: 1, id: three, name: 'get_weather', arguments: '' },
        { index: 1, arguments: '{}' },
      ],
      message: {
        content: null,
        reasoning_details: [second],
        tool_calls: [call(two, 'add', '{"a":1,"b":2}'), call(three, 'get_weather', '{}')],
      },
      finish: 'tool_calls',
      usage: { prompt_tokens: 180, completion_tokens: 25, total_tokens: 205 },
      sent: [
        {
          role: 'model',
          parts: [
            { text: 'Let me look.' },
            wire_call(
              0,
              'get_weather',
              { city: 'Zürich 🌤', n: 12345678901234567890 },
              kSignatures[1],
            ),
          ],
        },
        { role: 'user', parts: [wire_result(0, 'get_weather', { output: '18 °C' })] },
      ],
    },
    {
      // The results come in another order than the calls.
      asks: [
        { role: 'tool', tool_call_id: three, content: 'no city', is_error: true },
        { role: 'tool', tool_call_id: two, content: '{"sum": 3}' },
        { role: 'user', content: 'Well?' },
      ],
      deltas: words(
        ['It', ' is', ' 18', ' °C,', ' and', ' the', ' sum', ' is', ' 3.'],
        'content',
      ),
      message: { content: 'It is 18 °C, and the sum is 3.' },
      finish: 'stop',
      usage: { prompt_tokens: 220, completion_tokens: 12, total_tokens: 232 },
      sent: [
        {
          role: 'model',
          parts: [
            wire_call(1, 'add', { a: 1, b: 2 }, kSignatures[2]),
            wire_call(2, 'get_weather', {}),
          ],
        },
        {
          role: 'user',
          parts: [
            wire_result(1, 'add', { sum: 3 }),
            wire_result(2, 'get_weather', { error: 'no city' }),
            { text: 'Well?' },
          ],
        },
      ],
    },
  ];
}

const scope = file_scope();
let mock;
let old_mock;
before(async () => {
  mock = await start_mock(scope, to_script(''));
  old_mock = await start_mock(scope, to_script('fault no_id'));
});

async function start_pair(t, { server = mock, recorder, upstream = {} } = {}) {
  const front = recorder ?? (await start_recorder(t, server));
  const gateway = await start_gateway(t, {
    upstream: [
      { name: 'main', wire: 'gemini', url: `${front.url}/v1beta`, key: 'sk-secret', ...upstream },
    ],
    model: ['gemini-3-flash', 'broken'].map((name) => ({ name, upstream: 'main', retries: 0 })),
  });
  return { gateway, url: `${gateway.v1}/chat/completions`, requests: front.requests };
}

// `own`: the ids of the server, or none where callgate makes them up.
async function hold_conversation(t, { stream, server, recorder, own }) {
  const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
  const pair = await start_pair(t, { server, recorder });
  const ids = await hold_turns(pair, (known) => to_turns(known, own), {
    stream,
    body: { model: 'gemini-3-flash', tools: kTools, max_tokens: 1000 },
    check_request: (request, sent, i) => {
      assert.equal(request.url, `/v1beta/models/gemini-3-flash:${method}`);
      assert.equal(request.headers['x-goog-api-key'], 'sk-secret');
      assert.equal(request.headers['content-type'], 'application/json');
      assert.deepEqual(JSON.parse(request.text), {
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        contents: sent,
        tools: kWireTools,
        generationConfig: { maxOutputTokens: 1000 },
      });
      if (i > 1) assert.ok(request.text.includes('12345678901234567890'), 'no digit is lost');
    },
  });
  assert.equal(new Set(ids).size, 3);
  if (own) assert.deepEqual(ids, own);
  return ids;
}

describe('a conversation of four turns', () => {
  const own = ['a1', 'a2', 'a3'];
  for (const stream of [true, false]) {
    const how = stream ? 'streamed' : 'whole';
    test(`${how}, with the ids of the server`, async (t) => {
      await hold_conversation(t, { stream, server: mock, own });
    });
    test(`${how}, with a server that has none`, async (t) => {
      const known = await hold_conversation(t, { stream, server: old_mock });
      for (const id of known) assert.match(id, /^call_[A-Za-z0-9]{24}$/);
    });
  }

  test('with a server that streams one JSON array', async (t) => {
    const types = [];
    const recorder = await start_upstream(t, async (request, response) => {
      const answer = await open(mock.url + request.url.replace('?alt=sse', ''), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: request.text,
      });
      types.push(answer.headers['content-type']);
      response.writeHead(answer.status, answer.headers);
      answer.response.pipe(response);
    });
    await hold_conversation(t, { stream: true, recorder, own });
    assert.deepEqual(types, Array(4).fill('application/json; charset=utf-8'));
  });
});

describe('around the conversation', () => {
  const body = { model: 'gemini-3-flash', messages: [{ role: 'user', content: 'Hello' }] };

  test('a call whose signature was not sent back, and a bearer token', async (t) => {
    const { url, requests } = await start_pair(t, { upstream: { auth: 'bearer' } });
    const [, , , last] = to_turns(['x', 'y', 'z']);
    await post(url, {
      ...body,
      messages: [
        ...body.messages,
        { role: 'assistant', tool_calls: [call('y', 'add', '{}'), call('z', 'add', '{}')] },
        ...last.asks,
      ],
    });
    const { contents } = JSON.parse(requests[0].text);
    assert.deepEqual(
      contents[1].parts.map((part) => part.thoughtSignature),
      ['skip_thought_signature_validator', undefined],
    );
    assert.equal(requests[0].headers.authorization, 'Bearer sk-secret');
    assert.equal(requests[0].headers['x-goog-api-key'], undefined);
  });

  test('what cannot be carried is told, or refused', async (t) => {
    const odd = { ...body, logit_bias: { 1: 2 }, user: 'u', n: 2, reasoning_effort: 'low' };
    const warned = await start_pair(t);
    const answer = await post(warned.url, odd);
    assert.equal(answer.status, 200);
    assert.equal(answer.json().choices.length, 2);
    assert.equal(answer.headers['x-callgate-dropped'], 'logit_bias, user');
    assert.deepEqual(JSON.parse(warned.requests[0].text).generationConfig, {
      candidateCount: 2,
      thinkingConfig: { thinkingLevel: 'low', includeThoughts: true },
    });
    const strict = await start_pair(t, { upstream: { dropped_fields: 'refuse' } });
    const refused = await post(strict.url, odd);
    assert.equal(refused.status, 400);
    check_error(refused.json(), { param: 'logit_bias', message: /gemini/ });
    assert.equal(strict.requests.length, 0);
  });

  test('errors keep their status and words, before and inside the stream', async (t) => {
    const { gateway, url } = await start_pair(t);
    const before_stream = await post(url, { ...body, model: 'broken' });
    assert.equal(before_stream.status, 429);
    assert.equal(before_stream.headers['retry-after'], '7');
    check_error(before_stream.json(), { type: 'RESOURCE_EXHAUSTED', message: /Quota exceeded/ });
    const stream = await ChatStream.open(gateway.url, {
      model: 'broken',
      stream: true,
      messages: [{ role: 'user', content: 'midway' }],
    });
    for await (const _ of stream);
    const data = stream.frames.map((frame) => frame.data);
    assert.equal(data.at(-1), '[DONE]');
    check_error(JSON.parse(data.at(-2)), { type: 'UNAVAILABLE', message: /overloaded/ });
  });
});

describe('the official SDK reads the mock', () => {
  const question = [
    { role: 'user', parts: [{ text: 'Hello' }] },
    { role: 'model', parts: [{ text: 'Hello there.' }] },
    { role: 'user', parts: [{ text: 'How is the weather?' }] },
  ];
  const asked = (contents, model = 'gemini-3-flash') => ({
    model,
    contents,
    config: {
      systemInstruction: 'Be brief.',
      tools: kWireTools,
      thinkingConfig: { includeThoughts: true },
    },
  });
  const made = ({ name, args }) => [name, args];
  const weather = ['get_weather', { city: 'Zürich 🌤', n: 12345678901234567890 }];
  let client;
  before(() => {
    client = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: mock.url } });
  });

  test('whole', async () => {
    const answer = await client.models.generateContent(asked(question));
    const [candidate] = answer.candidates;
    assert.deepEqual(answer.functionCalls.map(made), [weather]);
    assert.equal(answer.functionCalls[0].id, 'a1');
    assert.equal(candidate.content.parts[0].thought, true);
    assert.equal(candidate.content.parts[0].text, 'The weather is asked for.');
    assert.equal(candidate.content.parts[1].text, 'Let me look.');
    assert.match(candidate.content.parts[2].thoughtSignature, /^sig_/);
    assert.equal(candidate.finishReason, 'STOP');
    assert.equal(answer.modelVersion, 'gemini-3-flash');
    const { promptTokenCount, candidatesTokenCount, thoughtsTokenCount, cachedContentTokenCount } =
      answer.usageMetadata;
    assert.deepEqual(
      [promptTokenCount, candidatesTokenCount, thoughtsTokenCount, cachedContentTokenCount],
      [130, 24, 6, 100],
    );
  });

  test('streamed, with the results sent back', async () => {
    const contents = [...question];
    const calls = [];
    let said = '';
    let thought = '';
    for (const result of ['18 °C', 'no city', '']) {
      const parts = [];
      for await (const chunk of await client.models.generateContentStream(asked(contents))) {
        parts.push(...(chunk.candidates?.[0].content?.parts ?? []));
      }
      for (const part of parts) {
        if (part.thought) thought += part.text;
        else said += part.text ?? '';
      }
      const round = parts.flatMap((part) => (part.functionCall ? [part.functionCall] : []));
      calls.push(...round.map(made));
      contents.push({ role: 'model', parts });
      if (round.length === 0) break;
      contents.push({
        role: 'user',
        parts: round.map(({ id, name }) => ({
          functionResponse: { id, name, response: { output: result } },
        })),
      });
    }
    assert.equal(said, 'Let me look.It is 18 °C, and the sum is 3.');
    assert.equal(thought, 'The weather is asked for.');
    assert.deepEqual(calls, [weather, ['add', { a: 1, b: 2 }], ['get_weather', {}]]);
  });

  test('its chat', async () => {
    const chat = client.chats.create({ model: 'gemini-3-flash' });
    const answer = await chat.sendMessage({ message: 'Hello' });
    assert.equal(answer.text, 'Hello there.');
    assert.equal(chat.getHistory().length, 2);
  });

  test('errors', async () => {
    const failing = (text) => asked([{ role: 'user', parts: [{ text }] }], 'broken');
    await assert.rejects(client.models.generateContent(failing('now')), (error) => {
      assert.equal(error.status, 429);
      assert.match(error.message, /RESOURCE_EXHAUSTED/);
      return true;
    });
    await assert.rejects(
      async () => {
        for await (const _ of await client.models.generateContentStream(failing('midway')));
      },
      { name: 'ApiError', status: 503 },
    );
  });
});
