// The AI SDK with both of its chat providers.
import { before, describe, test } from 'node:test';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, isStepCount, streamText, tool } from 'ai';
import {
  check_conversation,
  kModels,
  kQuestion,
  make_tools,
  start_conversation,
} from './conversation.mjs';
import { file_scope } from './harness.mjs';

const scope = file_scope();
const providers = {};
before(async () => {
  const gateway = await start_conversation(scope);
  const openai = createOpenAI({ apiKey: 'k', baseURL: gateway.v1 });
  providers['@ai-sdk/openai'] = (model) => openai.chat(model);
  const compatible = createOpenAICompatible({
    name: 'callgate',
    apiKey: 'k',
    baseURL: gateway.v1,
    includeUsage: true,
  });
  providers['@ai-sdk/openai-compatible'] = (model) => compatible(model);
});

function ai_tools(tools) {
  const wrap = ({ description, schema, run }) =>
    tool({ description, inputSchema: schema, execute: run });
  return { get_weather: wrap(tools.get_weather), add: wrap(tools.add) };
}

function to_turn(step) {
  const { usage } = step;
  return {
    text: step.text,
    calls: step.toolCalls.map((call) => ({
      id: call.toolCallId,
      name: call.toolName,
      arguments: call.input,
    })),
    finish: step.finishReason.replace('-', '_'),
    usage: {
      prompt: usage.inputTokens,
      completion: usage.outputTokens,
      total: usage.totalTokens,
      cached: usage.inputTokenDetails.cacheReadTokens,
      reasoning: usage.outputTokenDetails.reasoningTokens,
    },
  };
}

async function stream_steps(options) {
  const errors = [];
  const result = streamText({ ...options, onError: ({ error }) => errors.push(error) });
  await result.consumeStream();
  if (errors.length > 0) throw errors[0];
  return result.steps;
}

const kWays = {
  stream: stream_steps,
  whole: async (options) => (await generateText(options)).steps,
};

for (const provider of ['@ai-sdk/openai', '@ai-sdk/openai-compatible']) {
  for (const model of kModels) {
    describe(`${provider}, ${model} upstream`, () => {
      for (const [way, run] of Object.entries(kWays)) {
        test(way, async () => {
          const tools = make_tools();
          const steps = await run({
            model: providers[provider](model),
            tools: ai_tools(tools),
            prompt: kQuestion,
            stopWhen: isStepCount(4),
            maxRetries: 0,
            abortSignal: AbortSignal.timeout(20_000),
          });
          check_conversation(steps.map(to_turn), { model, seen: tools.seen });
        });
      }
    });
  }
}
