// @anthropic-ai/sdk against models whose wire format is not Anthropic's, and against one that writes its calls as text.
// The SDK hides broken streams from whoever only looks at its answers: requests are counted as well.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import {
  check_conversation,
  kModels,
  kQuestion,
  kSchemas,
  kTurns,
  make_tools,
  start_conversation,
} from './conversation.mjs';
import { file_scope } from './harness.mjs';

const scope = file_scope();
let gateway;
before(async () => {
  gateway = await start_conversation(scope);
});

// The SDK's base URL has no /v1.
function make_client(requests = []) {
  return new Anthropic({
    apiKey: 'k',
    baseURL: gateway.v1.replace(/\/v1$/, ''),
    maxRetries: 0,
    timeout: 20_000,
    fetch: async (url, init) => {
      requests.push({ url: String(url), body: init?.body ? JSON.parse(init.body) : undefined });
      return fetch(url, init);
    },
  });
}

const kTools = Object.entries(kSchemas).map(([name, input_schema]) => ({
  name,
  description: `Runs ${name}`,
  input_schema,
}));

const kWays = {
  create: { stream: undefined, send: (client, params) => client.messages.create(params) },
  'stream helper': {
    stream: true,
    send: (client, params) => client.messages.stream(params).finalMessage(),
  },
};

const kFinish = { tool_use: 'tool_calls', end_turn: 'stop' };

function to_turn(message) {
  const { usage } = message;
  const prompt =
    usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
  return {
    text: message.content
      .filter((block) => block.type === 'text')
      .map((block) => block.text)
      .join(''),
    calls: message.content
      .filter((block) => block.type === 'tool_use')
      .map((block) => ({ id: block.id, name: block.name, arguments: block.input })),
    finish: kFinish[message.stop_reason],
    usage: {
      prompt,
      completion: usage.output_tokens,
      total: prompt + usage.output_tokens,
      cached: usage.cache_read_input_tokens,
      reasoning: usage.output_tokens_details?.thinking_tokens ?? 0,
    },
  };
}

async function converse(model, { send, stream }) {
  const requests = [];
  const client = make_client(requests);
  const tools = make_tools();
  const messages = [{ role: 'user', content: kQuestion }];
  const turns = [];
  for (let turn = 0; turn < kTurns.length; ++turn) {
    const message = await send(client, { model, max_tokens: 1000, messages, tools: kTools });
    assert.equal(message.type, 'message');
    assert.match(message.id, /^msg_/);
    turns.push(to_turn(message));
    messages.push({ role: 'assistant', content: message.content });
    const results = message.content
      .filter((block) => block.type === 'tool_use')
      .map((block) => ({
        type: 'tool_result',
        tool_use_id: block.id,
        content: tools[block.name].run(block.input),
      }));
    if (results.length > 0) messages.push({ role: 'user', content: results });
  }
  assert.equal(requests.length, kTurns.length);
  for (const request of requests) assert.equal(request.body.stream, stream);
  return { turns, seen: tools.seen };
}

for (const model of kModels) {
  describe(`@anthropic-ai/sdk, ${model} upstream`, () => {
    for (const [way, how] of Object.entries(kWays)) {
      test(way, async () => {
        const { turns, seen } = await converse(model, how);
        check_conversation(turns, { model, seen });
      });
    }
  });
}

for (const model of ['clean', 'spoken']) {
  for (const stream of [true, false]) {
    test(`tool runner, ${model} upstream, ${stream ? 'streamed' : 'whole'}`, async () => {
      const requests = [];
      const client = make_client(requests);
      const tools = make_tools();
      const runnable = kTools.map((tool) => ({
        ...tool,
        type: 'custom',
        parse: (input) => input,
        run: tools[tool.name].run,
      }));
      const runner = client.beta.messages.toolRunner({
        model,
        max_tokens: 1000,
        messages: [{ role: 'user', content: kQuestion }],
        tools: runnable,
        stream,
      });
      const last = await runner.runUntilDone();
      assert.equal(to_turn(last).text, kTurns[1].text);
      assert.deepEqual(
        tools.seen.map((call) => call.name),
        ['get_weather', 'add'],
      );
      // It asks to continue a thread, learns that there is none, and sends the whole conversation.
      assert.deepEqual(
        requests.map((request) => request.body.thread?.type),
        ['create', 'continue', 'create'],
      );
      for (const request of requests) assert.equal(request.body.stream ?? false, stream);
    });
  }
}

test('counts tokens over system, tools and messages', async () => {
  const client = make_client();
  const messages = [{ role: 'user', content: kQuestion }];
  const bare = await client.messages.countTokens({ model: 'clean', messages });
  const full = await client.messages.countTokens({
    model: 'clean',
    messages,
    system: 'You know the weather.',
    tools: kTools,
  });
  assert.ok(bare.input_tokens > 10, bare.input_tokens);
  assert.ok(full.input_tokens > bare.input_tokens + 50, full.input_tokens);
});

test('lists models', async () => {
  const ids = [];
  for await (const model of make_client().models.list()) ids.push(model.id);
  assert.deepEqual(ids.sort(), [...kModels].sort());
  assert.equal((await make_client().models.retrieve('clean')).display_name, 'clean');
});

test('throws the SDK’s own errors', async () => {
  const client = make_client();
  const ask = (params) => client.messages.create({ model: 'clean', max_tokens: 9, ...params });
  await assert.rejects(ask({ messages: [] }), Anthropic.BadRequestError);
  await assert.rejects(
    ask({ model: 'nobody', messages: [{ role: 'user', content: 'hi' }] }),
    (error) => {
      assert.ok(error instanceof Anthropic.NotFoundError);
      assert.equal(error.error.error.type, 'not_found_error');
      assert.match(error.requestID ?? error.request_id, /^req_/);
      return true;
    },
  );
});
