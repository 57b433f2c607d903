// Responses as the SDKs speak it by default, in front of models that speak Chat Completions or write their calls as text.
import { before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { createOpenAI } from '@ai-sdk/openai';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool as langchain_tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool as agent_tool } from '@openai/agents';
import { generateText, isStepCount, streamText, tool as ai_tool } from 'ai';
import OpenAI from 'openai';
import {
  check_conversation,
  kModels,
  kQuestion,
  kResults,
  kSchemas,
  kTurns,
  make_tools,
  start_conversation,
} from './conversation.mjs';
import { file_scope } from './harness.mjs';

const scope = file_scope();
let gateway;
let client;
before(async () => {
  gateway = await start_conversation(scope);
  client = new OpenAI({ apiKey: 'k', baseURL: gateway.v1, maxRetries: 0, timeout: 20_000 });
  setTracingDisabled(true);
});

const kTools = Object.entries(kSchemas).map(([name, parameters]) => ({
  type: 'function',
  name,
  description: `Runs ${name}`,
  parameters,
  strict: false,
}));

const counts_of = (usage) => ({
  prompt: usage.input_tokens,
  completion: usage.output_tokens,
  total: usage.total_tokens,
  cached: usage.input_tokens_details.cached_tokens,
  reasoning: usage.output_tokens_details.reasoning_tokens,
});

function to_turn(response) {
  assert.equal(response.status, 'completed');
  const calls = response.output.filter((item) => item.type === 'function_call');
  return {
    text: response.output_text,
    calls: calls.map((item) => ({ id: item.call_id, name: item.name, arguments: item.arguments })),
    finish: calls.length > 0 ? 'tool_calls' : 'stop',
    usage: counts_of(response.usage),
  };
}

// One id per item in all events that name it, numbers without a gap, and whole items at the end.
function check_events(events) {
  events.forEach((event, i) => assert.equal(event.sequence_number, i));
  assert.equal(events[0].type, 'response.created');
  assert.equal(events[1].type, 'response.in_progress');
  const items = [];
  for (const event of events) {
    if (event.type === 'response.output_item.added') {
      assert.equal(event.output_index, items.length);
      if (event.item.type === 'function_call') assert.equal(event.item.arguments, '');
      items.push({ id: event.item.id });
    }
    if (event.item_id !== undefined) assert.equal(event.item_id, items[event.output_index].id);
    if (event.type === 'response.output_item.done') {
      assert.equal(event.item.id, items[event.output_index].id);
      items[event.output_index].whole = event.item;
    }
  }
  const last = events.at(-1);
  assert.equal(last.type, 'response.completed');
  assert.deepEqual(
    last.response.output,
    items.map((item) => item.whole),
  );
  return last.response;
}

const kWays = {
  create: (body) => client.responses.create(body),
  'create, streamed': async (body) => {
    const events = [];
    for await (const event of await client.responses.create({ ...body, stream: true }))
      events.push(event);
    const response = check_events(events);
    const texts = response.output.filter((item) => item.type === 'message');
    response.output_text = texts.flatMap((item) => item.content.map((part) => part.text)).join('');
    return response;
  },
  'stream()': (body) => client.responses.stream(body).finalResponse(),
};

const results_of = (response) =>
  response.output
    .filter((item) => item.type === 'function_call')
    .map(({ call_id, name }) => ({
      type: 'function_call_output',
      call_id,
      output: kResults[name],
    }));

for (const model of kModels) {
  describe(`openai responses, ${model} upstream`, () => {
    for (const [way, send] of Object.entries(kWays)) {
      test(way, async () => {
        const input = [{ role: 'user', content: kQuestion }];
        const turns = [];
        for (let turn = 0; turn < kTurns.length; ++turn) {
          const response = await send({ model, input, tools: kTools });
          turns.push(to_turn(response));
          input.push(...response.output, ...results_of(response));
        }
        check_conversation(turns, { model });
      });
    }
  });
}

for (const model of ['clean', 'spoken']) {
  describe(`@openai/agents with its defaults, ${model} upstream`, () => {
    for (const stream of [true, false]) {
      test(stream ? 'stream' : 'whole', async () => {
        const tools = make_tools();
        const agent = new Agent({
          name: 'assistant',
          instructions: 'Use the tools.',
          model,
          tools: ['get_weather', 'add'].map((name) =>
            agent_tool({
              name,
              description: tools[name].description,
              parameters: { ...kSchemas[name], additionalProperties: true },
              strict: false,
              execute: tools[name].run,
            }),
          ),
        });
        const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient: client }) });
        const result = await runner.run(agent, kQuestion, { stream, maxTurns: 3 });
        if (stream) {
          for await (const _ of result);
          await result.completed;
        }
        assert.equal(result.finalOutput, kTurns[1].text);
        assert.deepEqual(
          tools.seen.map(({ name }) => name),
          ['get_weather', 'add'],
        );
      });
    }
  });

  describe(`@ai-sdk/openai with its defaults, ${model} upstream`, () => {
    const ways = {
      stream: async (options) => {
        const errors = [];
        const result = streamText({ ...options, onError: ({ error }) => errors.push(error) });
        await result.consumeStream();
        if (errors.length > 0) throw errors[0];
        return result.steps;
      },
      whole: async (options) => (await generateText(options)).steps,
    };
    for (const [way, run] of Object.entries(ways)) {
      test(way, async () => {
        const tools = make_tools();
        const wrap = ({ description, schema, run: execute }) =>
          ai_tool({ description, inputSchema: schema, execute });
        const steps = await run({
          model: createOpenAI({ apiKey: 'k', baseURL: gateway.v1 })(model),
          tools: { get_weather: wrap(tools.get_weather), add: wrap(tools.add) },
          prompt: kQuestion,
          stopWhen: isStepCount(4),
          maxRetries: 0,
          abortSignal: AbortSignal.timeout(20_000),
        });
        const turns = steps.map((step) => ({
          text: step.text,
          calls: step.toolCalls.map((call) => ({
            id: call.toolCallId,
            name: call.toolName,
            arguments: call.input,
          })),
          finish: step.finishReason.replace('-', '_'),
          usage: {
            prompt: step.usage.inputTokens,
            completion: step.usage.outputTokens,
            total: step.usage.totalTokens,
            cached: step.usage.inputTokenDetails.cacheReadTokens,
            reasoning: step.usage.outputTokenDetails.reasoningTokens,
          },
        }));
        check_conversation(turns, { model, seen: tools.seen });
      });
    }
  });

  describe(`@langchain/openai over responses, ${model} upstream`, () => {
    const ways = {
      whole: (chat, messages) => chat.invoke(messages),
      stream: async (chat, messages) => {
        let whole;
        for await (const piece of await chat.stream(messages))
          whole = whole === undefined ? piece : whole.concat(piece);
        return whole;
      },
    };
    for (const [way, send] of Object.entries(ways)) {
      test(way, async () => {
        const tools = make_tools();
        const runnable = ['get_weather', 'add'].map((name) =>
          langchain_tool(tools[name].run, {
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
          useResponsesApi: true,
          configuration: { baseURL: gateway.v1 },
        }).bindTools(runnable);
        const messages = [new HumanMessage(kQuestion)];
        const texts = [];
        for (let turn = 0; turn < kTurns.length; ++turn) {
          const message = await send(chat, messages);
          messages.push(message);
          texts.push(message.text);
          for (const call of message.tool_calls) {
            const content = await runnable
              .find((candidate) => candidate.name === call.name)
              .invoke(call.args);
            messages.push(new ToolMessage({ content, tool_call_id: call.id }));
          }
        }
        assert.deepEqual(
          texts,
          kTurns.map((turn) => turn.text),
        );
        assert.deepEqual(
          tools.seen.map(({ name }) => name),
          ['get_weather', 'add'],
        );
      });
    }
  });
}

describe('errors', () => {
  test('a wrong field is named', async () => {
    await assert.rejects(
      client.responses.create({ model: 'clean', input: [{ role: 'user', content: [{ type: 5 }] }] }),
      (error) => {
        assert.equal(error.status, 400);
        assert.equal(error.param, 'input[0].content[0].type');
        return true;
      },
    );
  });

  test('an unknown model is', async () => {
    await assert.rejects(client.responses.create({ model: 'nobody', input: 'hi' }), (error) => {
      assert.equal(error.status, 404);
      assert.equal(error.code, 'model_not_found');
      return true;
    });
  });
});
