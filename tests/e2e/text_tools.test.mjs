// Servers without a parser for calls: the model is shown its tools by the server, and its calls are read from the text. Each
// server here answers as the real one of its name does.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { check_stream } from './chat_contract.mjs';
import { one_upstream, start_gateway, start_mock } from './harness.mjs';
import { ask, post, stream_chat } from './http.mjs';
import { kEnd, kEventStream, kHead, say, start_upstream, whole_answer } from './upstream.mjs';

const kTools = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  },
];
const kHermes = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>';
const kMistral = '[TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}';
const kStripped = 'get_weather{"city": "Paris"}';
const kNoTools = 'I have no tools.';

const fail = (status, body) => ({ status, body });
const bad_request = (message) =>
  fail(400, { error: { message, type: 'BadRequestError', param: null, code: 400 } });
const has_tools = (body) => (body.tools ?? []).length > 0;

// What the servers do with a request: a refusal, or the text that the model writes.
const kServers = {
  // Refuses all choices but none, and shows the tools for that one. Removes special tokens unless told not to.
  vllm(body) {
    if (!has_tools(body)) return kNoTools;
    const choice = body.tool_choice ?? 'auto';
    if (choice === 'auto')
      return bad_request(
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
      );
    if (choice !== 'none') {
      const said = choice === 'required' ? '"required"' : `function "${choice.function.name}"`;
      return bad_request(`tool_choice=${said} requires --tool-call-parser to be set`);
    }
    return body.skip_special_tokens === false ? kMistral : kStripped;
  },
  // Takes the tools away for none, keeps special tokens otherwise, and constrains forced calls to JSON.
  sglang(body) {
    const choice = body.tool_choice ?? 'auto';
    if (!has_tools(body) || choice === 'none') return kNoTools;
    return choice === 'auto' ? kMistral : '[{"name": "get_weather", "parameters": {"city": "Paris"}}]';
  },
  // Parses unless the choice is none, and fails on what it does not expect. Started with --special.
  llama_cpp(body) {
    if (!has_tools(body)) return kNoTools;
    if (body.tool_choice === 'none') return kMistral;
    const message = 'The model produced output that does not match the expected peg-native format';
    return fail(500, { error: { code: 500, message, type: 'server_error' } });
  },
  // Shows the tools whatever the choice is; this model's calls it does not recognise.
  ollama: (body) => (has_tools(body) ? kHermes : kNoTools),
  // Takes words for tool_choice only.
  lm_studio(body) {
    if (typeof body.tool_choice === 'object')
      return fail(400, { error: "Invalid tool_choice type: 'object'. Supported string values: none, auto, required" });
    if (!has_tools(body) || body.tool_choice === 'none') return kNoTools;
    return kHermes;
  },
};

async function start_server(t, kind) {
  const bodies = [];
  const upstream = await start_upstream(t, (request, response) => {
    const body = JSON.parse(request.text);
    bodies.push(body);
    const answer = kServers[kind](body);
    if (typeof answer === 'object') {
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      return response.end(JSON.stringify(answer.body));
    }
    if (!body.stream) {
      response.writeHead(200, { 'content-type': 'application/json' });
      return response.end(whole_answer(answer));
    }
    response.writeHead(200, kEventStream);
    response.write(kHead);
    for (let i = 0; i < answer.length; i += 5) response.write(say(answer.slice(i, i + 5)));
    return response.end(kEnd);
  });
  return { upstream, bodies };
}

const kDialects = { vllm: 'mistral_v13', sglang: 'mistral_v13', llama_cpp: 'mistral_v13' };

async function expect_call(gateway, more = {}) {
  const body = ask('x', { tools: kTools, ...more });
  const turn = check_stream((await stream_chat(gateway.url, body)).data);
  assert.deepEqual(turn.calls.map((made) => made.arguments), ['{"city": "Paris"}']);
  assert.equal(turn.text, '');
  assert.equal(turn.finish_reason, 'tool_calls');
  const whole = (await post(`${gateway.url}/v1/chat/completions`, body)).json();
  assert.equal(whole.choices[0].message.tool_calls[0].function.name, 'get_weather');
}

describe('tools = "text"', () => {
  for (const kind of Object.keys(kServers)) {
    test(`gives calls at ${kind}, whatever the client chooses`, async (t) => {
      const { upstream, bodies } = await start_server(t, kind);
      const model = { tools: 'text', dialect: kDialects[kind] ?? 'hermes' };
      const config = one_upstream(upstream.v1, { model, upstream: { server: kind } });
      const gateway = await start_gateway(t, config);
      await expect_call(gateway);
      for (const tool_choice of [
        'auto',
        'required',
        { type: 'function', function: { name: 'get_weather' } },
      ])
        await expect_call(gateway, { tool_choice });
      assert.equal(bodies.length, 8, 'no request was sent twice');
      assert.ok(!gateway.log.includes('no parser'), gateway.log);

      const none = ask('x', { tools: kTools, tool_choice: 'none' });
      const turn = check_stream((await stream_chat(gateway.url, none)).data);
      assert.equal(turn.text, kNoTools);
      assert.equal(turn.calls.length, 0);
    });
  }

  test("gives calls at Ollama's own API, whatever the client chooses", async (t) => {
    const bodies = [];
    const upstream = await start_upstream(t, (request, response) => {
      bodies.push(JSON.parse(request.text));
      const content = has_tools(bodies.at(-1)) ? kHermes : kNoTools;
      const lines = [
        { model: 'm', message: { role: 'assistant', content }, done: false },
        { model: 'm', message: { role: 'assistant', content: '' }, done: true, done_reason: 'stop' },
      ];
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      if (bodies.at(-1).stream) return response.end(lines.map((line) => JSON.stringify(line) + '\n').join(''));
      return response.end(JSON.stringify({ ...lines[0], done: true, done_reason: 'stop' }));
    });
    const model = { tools: 'text', dialect: 'hermes' };
    const config = one_upstream(upstream.url, { model, upstream: { wire: 'ollama' } });
    const gateway = await start_gateway(t, config);
    for (const tool_choice of ['auto', 'required']) await expect_call(gateway, { tool_choice });
    assert.ok(bodies.every((body) => has_tools(body)));
    const body = ask('x', { tools: kTools, tool_choice: 'required' });
    const { headers } = await stream_chat(gateway.url, body);
    assert.equal(headers['x-callgate-dropped'], undefined);
  });

  test('asks once more for a call that must be made', async (t) => {
    const texts = ['No.', kHermes];
    const bodies = [];
    const upstream = await start_upstream(t, (request, response) => {
      bodies.push(JSON.parse(request.text));
      response.writeHead(200, kEventStream);
      response.end(kHead + say(texts[bodies.length - 1]) + kEnd);
    });
    const model = { tools: 'text', dialect: 'hermes' };
    const gateway = await start_gateway(t, one_upstream(upstream.v1, { model }));
    const body = ask('x', { tools: kTools, tool_choice: 'required' });
    const turn = check_stream((await stream_chat(gateway.url, body)).data);
    assert.equal(turn.calls.length, 1);
    assert.equal(bodies.length, 2);
    assert.match(bodies[0].messages[0].content, /You must use a tool in this answer/);
  });
});

describe('a vLLM without a parser, and nothing about it in the configuration', () => {
  // The example of docs/script.md.
  const kScript = `
rule calls
  when tools
  when tool_choice none
  when last user
  text ${JSON.stringify(kHermes)}

rule answers
  when tool_choice none
  text "It is sunny."

rule refuses
  when tools
  status 400 {"object": "error", "message": "\\"auto\\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set", "type": "BadRequestError", "param": null, "code": 400}

rule talks
  text "Hello."
`;

  test('gives calls, is remembered until the next reload, and is logged once', async (t) => {
    const { upstream, bodies } = await start_server(t, 'vllm');
    const model = { dialect: 'mistral_v13', retries: 0 };
    const gateway = await start_gateway(t, one_upstream(upstream.v1, { model }));
    await expect_call(gateway);
    await expect_call(gateway, { tool_choice: 'required' });
    assert.equal(bodies.length, 5, 'only the first request was sent twice');
    const lines = gateway.log.split('\n').filter((line) => /no parser for tool calls/.test(line));
    assert.equal(lines.length, 1, gateway.log);
    assert.match(lines[0], /tools = "text"/);
    assert.match(lines[0], /upstream=main/);
    assert.match(lines[0], /model=m/);

    const before = gateway.log.length;
    gateway.signal('SIGHUP');
    const end = Date.now() + 10_000;
    while (!/reload/i.test(gateway.log.slice(before)) && Date.now() < end)
      await new Promise((resolve) => setTimeout(resolve, 10));
    await expect_call(gateway);
    assert.equal(bodies.length, 8, 'found out again');
  });

  test('gives calls to a tool loop', async (t) => {
    const mock = await start_mock(t, kScript);
    const config = one_upstream(mock.v1, {
      model: { dialect: 'hermes', loop: true, retries: 0 },
      tool: [
        {
          name: 'get_weather',
          kind: 'command',
          command: ['cat'],
          description: 'Tells the weather.',
          parameters: JSON.stringify(kTools[0].function.parameters),
        },
      ],
    });
    const gateway = await start_gateway(t, config);
    const turn = check_stream((await stream_chat(gateway.url, ask('x'))).data);
    assert.equal(turn.text, 'It is sunny.');
    assert.match(gateway.log, /no parser for tool calls/);
  });

  test('still answers requests without tools', async (t) => {
    const mock = await start_mock(t, kScript);
    const gateway = await start_gateway(t, one_upstream(mock.v1));
    assert.equal(check_stream((await stream_chat(gateway.url, ask('x'))).data).text, 'Hello.');
  });
});
