// The Agents SDK over chat completions: it runs the loop itself.
import { before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled, tool } from '@openai/agents';
import OpenAI from 'openai';
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
let client;
before(async () => {
  const gateway = await start_conversation(scope);
  client = new OpenAI({ apiKey: 'k', baseURL: gateway.v1, maxRetries: 0, timeout: 20_000 });
  setTracingDisabled(true);
});

function agent_tools(tools) {
  return ['get_weather', 'add'].map((name) =>
    tool({
      name,
      description: tools[name].description,
      parameters: { ...kSchemas[name], additionalProperties: true },
      strict: false,
      execute: tools[name].run,
    }),
  );
}

function to_turn({ output, usage }) {
  const texts = output.filter((item) => item.type === 'message').flatMap((item) => item.content);
  return {
    text: texts.map((part) => part.text).join(''),
    calls: output
      .filter((item) => item.type === 'function_call')
      .map((item) => ({ id: item.callId, name: item.name, arguments: item.arguments })),
    usage: {
      prompt: usage.inputTokens,
      completion: usage.outputTokens,
      total: usage.totalTokens,
      cached: usage.inputTokensDetails[0]?.cached_tokens ?? 0,
      reasoning: usage.outputTokensDetails[0]?.reasoning_tokens ?? 0,
    },
  };
}

for (const model of kModels) {
  describe(`@openai/agents, ${model} upstream`, () => {
    for (const stream of [true, false]) {
      test(stream ? 'stream' : 'whole', async () => {
        const tools = make_tools();
        const agent = new Agent({
          name: 'assistant',
          instructions: 'Use the tools.',
          model: new OpenAIChatCompletionsModel(client, model),
          tools: agent_tools(tools),
        });
        const result = await run(agent, kQuestion, { stream, maxTurns: 3 });
        if (stream) {
          for await (const _ of result);
          await result.completed;
        }
        assert.equal(result.finalOutput, kTurns[1].text);
        check_conversation(result.rawResponses.map(to_turn), {
          model,
          seen: tools.seen,
          hides: ['finish'],
        });
      });
    }
  });
}
