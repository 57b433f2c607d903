// The official openai package: plain requests, the stream() fold, and runTools().
import { before, describe, test } from 'node:test';
import OpenAI from 'openai';
import {
  check_conversation,
  from_openai_usage,
  kModels,
  kQuestion,
  kResults,
  kTurns,
  kWireTools,
  make_tools,
  start_conversation,
} from './conversation.mjs';
import { file_scope } from './harness.mjs';
import assert from 'node:assert/strict';

const scope = file_scope();
let gateway;
let client;
before(async () => {
  gateway = await start_conversation(scope);
  client = new OpenAI({ apiKey: 'k', baseURL: gateway.v1, maxRetries: 0, timeout: 20_000 });
});

function to_turn(completion) {
  const [{ message, finish_reason }] = completion.choices;
  return {
    text: message.content,
    calls: (message.tool_calls ?? []).map((call) => ({ id: call.id, ...call.function })),
    finish: finish_reason,
    usage: from_openai_usage(completion.usage),
  };
}

// What people write themselves: append whatever comes.
async function naive_fold(stream) {
  const message = { role: null, content: '', tool_calls: [] };
  let finish_reason = null;
  let usage = null;
  for await (const chunk of stream) {
    usage = chunk.usage ?? usage;
    for (const { delta, finish_reason: finish } of chunk.choices) {
      message.role ??= delta.role;
      message.content += delta.content ?? '';
      for (const call of delta.tool_calls ?? []) {
        const entry = (message.tool_calls[call.index] ??= {
          id: '',
          type: call.type,
          function: { name: '', arguments: '' },
        });
        entry.id += call.id ?? '';
        entry.function.name += call.function?.name ?? '';
        entry.function.arguments += call.function?.arguments ?? '';
      }
      finish_reason = finish ?? finish_reason;
    }
  }
  if (message.tool_calls.length === 0) delete message.tool_calls;
  return { choices: [{ message, finish_reason }], usage };
}

const kWays = {
  whole: (body) => client.chat.completions.create(body),
  'stream, folded by hand': async (body) =>
    naive_fold(
      await client.chat.completions.create({
        ...body,
        stream: true,
        stream_options: { include_usage: true },
      }),
    ),
  'stream()': (body) =>
    client.chat.completions
      .stream({ ...body, stream_options: { include_usage: true } })
      .finalChatCompletion(),
};

async function converse(model, send) {
  const messages = [{ role: 'user', content: kQuestion }];
  const completions = [];
  for (let turn = 0; turn < kTurns.length; ++turn) {
    const completion = await send({ model, messages, tools: kWireTools });
    completions.push(completion);
    const { message } = completion.choices[0];
    messages.push(message);
    for (const call of message.tool_calls ?? []) {
      messages.push({ role: 'tool', tool_call_id: call.id, content: kResults[call.function.name] });
    }
  }
  return completions.map(to_turn);
}

function runner_tools(tools) {
  return kWireTools.map(({ function: { name, description, parameters } }) => ({
    type: 'function',
    function: { name, description, parameters, parse: JSON.parse, function: tools[name].run },
  }));
}

for (const model of kModels) {
  describe(`openai, ${model} upstream`, () => {
    for (const [way, send] of Object.entries(kWays)) {
      test(way, async () => check_conversation(await converse(model, send), { model }));
    }

    for (const stream of [true, false]) {
      test(`runTools(), ${stream ? 'stream' : 'whole'}`, async () => {
        const tools = make_tools();
        const messages = [{ role: 'user', content: kQuestion }];
        const more = stream ? { stream: true, stream_options: { include_usage: true } } : {};
        const runner = client.chat.completions.runTools({
          model,
          messages,
          tools: runner_tools(tools),
          ...more,
        });
        assert.equal(await runner.finalContent(), kTurns[1].text);
        check_conversation(runner.allChatCompletions().map(to_turn), { model, seen: tools.seen });
      });
    }
  });
}

test('openai, the models are listed', async () => {
  const names = [];
  for await (const model of client.models.list()) names.push(model.id);
  assert.deepEqual(names.sort(), [...kModels].sort());
});

test('openai, an unknown model is a NotFoundError with all its fields', async () => {
  const failed = client.chat.completions.create({
    model: 'nobody',
    messages: [{ role: 'user', content: 'x' }],
    stream: true,
  });
  await assert.rejects(failed, (error) => {
    assert.ok(error instanceof OpenAI.NotFoundError);
    assert.equal(error.code, 'model_not_found');
    assert.equal(error.type, 'invalid_request_error');
    assert.match(error.message, /nobody/);
    assert.match(error.requestID, /\S/);
    return true;
  });
});
