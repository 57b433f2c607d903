// The AI SDK's Anthropic provider, which validates every event, against models whose wire format is not Anthropic's, and against
// one that writes its calls as text.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { generateText, isStepCount, streamText, tool } from 'ai';
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
  stream: { stream: true, run: stream_steps },
  whole: { stream: undefined, run: async (options) => (await generateText(options)).steps },
};

for (const model of kModels) {
  describe(`@ai-sdk/anthropic, ${model} upstream`, () => {
    for (const [way, { stream, run }] of Object.entries(kWays)) {
      test(way, async () => {
        const requests = [];
        const anthropic = createAnthropic({
          apiKey: 'k',
          baseURL: gateway.v1,
          fetch: async (url, init) => {
            requests.push(JSON.parse(init.body));
            return fetch(url, init);
          },
        });
        const tools = make_tools();
        const steps = await run({
          model: anthropic(model),
          tools: ai_tools(tools),
          prompt: kQuestion,
          stopWhen: isStepCount(4),
          maxRetries: 0,
          abortSignal: AbortSignal.timeout(20_000),
        });
        check_conversation(steps.map(to_turn), {
          model,
          seen: tools.seen,
          hides: ['reasoning'],
        });
        assert.equal(requests.length, kTurns.length);
        for (const request of requests) assert.equal(request.stream, stream);
      });
    }
  });
}
