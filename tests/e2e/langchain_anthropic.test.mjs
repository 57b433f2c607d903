// LangChain's ChatAnthropic against models whose wire format is not Anthropic's, and against one that writes its calls as text.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { ChatAnthropic } from '@langchain/anthropic';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import {
  check_conversation,
  kModels,
  kQuestion,
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

const kWays = {
  whole: { stream: undefined, send: (chat, messages) => chat.invoke(messages) },
  stream: {
    stream: true,
    send: async (chat, messages) => {
      let whole;
      for await (const piece of await chat.stream(messages))
        whole = whole === undefined ? piece : whole.concat(piece);
      return whole;
    },
  },
};

const kFinish = { tool_use: 'tool_calls', end_turn: 'stop' };

function text_of(content) {
  if (typeof content === 'string') return content;
  return content
    .filter((block) => block.type === 'text')
    .map((block) => block.text)
    .join('');
}

function to_turn(message) {
  const usage = message.usage_metadata;
  return {
    text: text_of(message.content),
    calls: message.tool_calls.map((call) => ({
      id: call.id,
      name: call.name,
      arguments: call.args,
    })),
    finish:
      kFinish[message.response_metadata.stop_reason ?? message.additional_kwargs.stop_reason],
    usage: {
      prompt: usage.input_tokens,
      completion: usage.output_tokens,
      total: usage.total_tokens,
    },
  };
}

async function converse(model, { stream, send }) {
  const requests = [];
  const tools = make_tools();
  const runnable = ['get_weather', 'add'].map((name) =>
    tool(tools[name].run, {
      name,
      description: tools[name].description,
      schema: tools[name].schema,
    }),
  );
  const chat = new ChatAnthropic({
    model,
    apiKey: 'k',
    maxRetries: 0,
    maxTokens: 1000,
    anthropicApiUrl: gateway.v1.replace(/\/v1$/, ''),
    clientOptions: {
      fetch: async (url, init) => {
        requests.push(JSON.parse(init.body));
        return fetch(url, init);
      },
    },
  }).bindTools(runnable);
  const messages = [new HumanMessage(kQuestion)];
  const turns = [];
  for (let turn = 0; turn < kTurns.length; ++turn) {
    const message = await send(chat, messages);
    messages.push(message);
    turns.push(to_turn(message));
    for (const call of message.tool_calls) {
      const content = await runnable
        .find((candidate) => candidate.name === call.name)
        .invoke(call.args);
      messages.push(new ToolMessage({ content, tool_call_id: call.id }));
    }
  }
  assert.equal(requests.length, kTurns.length);
  for (const request of requests) assert.equal(request.stream || undefined, stream);
  return { turns, seen: tools.seen };
}

for (const model of kModels) {
  describe(`@langchain/anthropic, ${model} upstream`, () => {
    for (const [way, how] of Object.entries(kWays)) {
      test(way, async () => {
        const { turns, seen } = await converse(model, how);
        // It reads the size of the prompt where a stream begins; these upstreams say it at the end, so it shows an estimate.
        const late = way === 'stream' ? ['prompt', 'total'] : [];
        for (const turn of turns) {
          for (const name of late) {
            assert.ok(turn.usage[name] > 0, name);
            delete turn.usage[name];
          }
        }
        check_conversation(turns, { model, seen, hides: ['cached', 'reasoning', ...late] });
      });
    }
  });
}
