// LangChain's ChatOpenAI.
import { before, describe, test } from 'node:test';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
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
  whole: (chat, messages) => chat.invoke(messages),
  stream: async (chat, messages) => {
    let whole;
    for await (const piece of await chat.stream(messages))
      whole = whole === undefined ? piece : whole.concat(piece);
    return whole;
  },
};

function to_turn(message) {
  const usage = message.usage_metadata;
  return {
    text: message.content,
    calls: message.tool_calls.map((call) => ({
      id: call.id,
      name: call.name,
      arguments: call.args,
    })),
    finish: message.response_metadata.finish_reason,
    usage: {
      prompt: usage.input_tokens,
      completion: usage.output_tokens,
      total: usage.total_tokens,
      cached: usage.input_token_details?.cache_read ?? 0,
      reasoning: usage.output_token_details?.reasoning ?? 0,
    },
  };
}

async function converse(model, send) {
  const tools = make_tools();
  const runnable = ['get_weather', 'add'].map((name) =>
    tool(tools[name].run, {
      name,
      description: tools[name].description,
      schema: tools[name].schema,
    }),
  );
  const chat = new ChatOpenAI({
    model,
    apiKey: 'k',
    maxRetries: 0,
    timeout: 20_000,
    streamUsage: true,
    configuration: { baseURL: gateway.v1 },
  });
  const bound = chat.bindTools(runnable);
  const messages = [new HumanMessage(kQuestion)];
  const turns = [];
  for (let turn = 0; turn < kTurns.length; ++turn) {
    const message = await send(bound, messages);
    messages.push(message);
    turns.push(to_turn(message));
    for (const call of message.tool_calls) {
      const content = await runnable
        .find((candidate) => candidate.name === call.name)
        .invoke(call.args);
      messages.push(new ToolMessage({ content, tool_call_id: call.id }));
    }
  }
  return { turns, seen: tools.seen };
}

for (const model of kModels) {
  describe(`@langchain/openai, ${model} upstream`, () => {
    for (const [way, send] of Object.entries(kWays)) {
      test(way, async () => {
        const { turns, seen } = await converse(model, send);
        check_conversation(turns, { model, seen });
      });
    }
  });
}
