// A model server that dies in the middle of a call: clients that run a call as soon as it is over must not run that one, whatever
// their protocol. The pieces of its arguments end where a lenient client could take them for a whole call.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool as agent_tool } from '@openai/agents';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { isStepCount, streamText, tool } from 'ai';
import { Ollama } from 'ollama';
import OpenAI from 'openai';
import { z } from 'zod';
import { file_scope, one_upstream, start_gateway } from './harness.mjs';
import { open, SseReader } from './http.mjs';
import { chunk, kEventStream, kHead, say, start_upstream } from './upstream.mjs';

const kPieces = [[], ['{"city":"Par'], ['{"city":', '"Paris"']];
const kWays = ['breaks off', 'ends without a finish reason', 'reports an error'];

const call = (text, more = {}) =>
  chunk({ tool_calls: [{ index: 0, ...more, function: { ...(more.id ? { name: 'look' } : {}), arguments: text } }] });

const scope = file_scope();
let gateway;
let plan;
before(async () => {
  setTracingDisabled(true);
  const upstream = await start_upstream(scope, async (_, response) => {
    response.writeHead(200, kEventStream);
    response.write(kHead + say('I look.') + call('', { id: 'call_1', type: 'function' }));
    for (const piece of plan.pieces) response.write(call(piece));
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (plan.way === kWays[0]) return response.destroy();
    if (plan.way === kWays[2]) response.write('data: {"error":{"message":"overloaded","code":529}}\n\n');
    response.end();
  });
  gateway = await start_gateway(scope, one_upstream(upstream.v1, { model: { retries: 0 } }));
});

// Until one says that the answer failed.
async function* events(path, body) {
  const { response } = await open(gateway.url + path, { method: 'POST', body });
  const reader = new SseReader();
  let failure;
  for await (const bytes of response.setEncoding('utf8')) {
    for (const frame of reader.push(bytes)) {
      if (frame.data === undefined) continue;
      const event = JSON.parse(frame.data);
      failure ??= event.error ?? event.response?.error;
      if (!event.error) yield event;
    }
  }
  if (failure) throw new Error(failure.message);
}

const run_ai = (model) => async (ran) => {
  const errors = [];
  const look = tool({ inputSchema: z.object({ city: z.string().optional() }), execute: ran });
  const result = streamText({
    model,
    tools: { look },
    prompt: 'Look.',
    stopWhen: isStepCount(3),
    maxRetries: 0,
    onError: ({ error }) => errors.push(error),
  });
  await result.consumeStream();
  if (errors.length > 0) throw errors[0];
};

const kClients = {
  '@ai-sdk/openai': (ran) => run_ai(createOpenAI({ apiKey: 'k', baseURL: gateway.v1 })('m'))(ran),
  '@ai-sdk/openai chat': (ran) => run_ai(createOpenAI({ apiKey: 'k', baseURL: gateway.v1 }).chat('m'))(ran),
  '@ai-sdk/anthropic': (ran) => run_ai(createAnthropic({ apiKey: 'k', baseURL: gateway.v1 })('m'))(ran),
  '@ai-sdk/google': (ran) => run_ai(createGoogleGenerativeAI({ apiKey: 'k', baseURL: `${gateway.url}/v1beta` })('m'))(ran),
  '@anthropic-ai/sdk': async (ran) => {
    const client = new Anthropic({ apiKey: 'k', baseURL: gateway.url, maxRetries: 0 });
    const runner = client.beta.messages.toolRunner({
      model: 'm',
      max_tokens: 100,
      stream: true,
      messages: [{ role: 'user', content: 'Look.' }],
      tools: [{ name: 'look', input_schema: { type: 'object' }, run: ran, parse: (input) => input }],
      max_iterations: 3,
    });
    for await (const stream of runner) for await (const _ of stream);
  },
  '@openai/agents': async (ran) => {
    const client = new OpenAI({ apiKey: 'k', baseURL: gateway.v1, maxRetries: 0 });
    const look = agent_tool({
      name: 'look',
      description: 'd',
      strict: false,
      parameters: { type: 'object', properties: {}, required: [], additionalProperties: true },
      execute: ran,
    });
    const agent = new Agent({ name: 'a', model: 'm', tools: [look] });
    const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient: client }) });
    const result = await runner.run(agent, 'Look.', { stream: true, maxTurns: 3 });
    await result.completed;
    if (result.error) throw result.error;
  },
  ollama: async (ran) => {
    const client = new Ollama({ host: gateway.url });
    const stream = await client.chat({ model: 'm', stream: true, messages: [{ role: 'user', content: 'Look.' }] });
    for await (const part of stream) for (const made of part.message.tool_calls ?? []) ran(made);
  },
  // Agents begin with a call when its block, its item or its part is over, before the turn is.
  'a reader of Messages': async (ran) => {
    const kinds = [];
    const body = { model: 'm', stream: true, max_tokens: 9, messages: [{ role: 'user', content: 'Look.' }] };
    for await (const event of events('/v1/messages', body)) {
      if (event.type === 'content_block_start') kinds[event.index] = event.content_block.type;
      if (event.type === 'content_block_stop' && kinds[event.index] === 'tool_use') ran(event);
    }
  },
  'a reader of Responses': async (ran) => {
    for await (const event of events('/v1/responses', { model: 'm', stream: true, input: 'Look.' })) {
      if (event.type === 'response.function_call_arguments.done') ran(event);
      if (event.type === 'response.output_item.done' && event.item.type === 'function_call') ran(event);
      for (const item of event.response?.output ?? []) if (item.type === 'function_call') ran(item);
    }
  },
  'a reader of Gemini': async (ran) => {
    const body = { contents: [{ role: 'user', parts: [{ text: 'Look.' }] }] };
    for await (const { candidates } of events('/v1beta/models/m:streamGenerateContent?alt=sse', body)) {
      for (const { functionCall } of candidates[0].content.parts) if (functionCall) ran(functionCall);
    }
  },
};

for (const [client, use] of Object.entries(kClients)) {
  describe(`${client} does not run a call that was cut short`, () => {
    for (const way of kWays) {
      for (const pieces of kPieces) {
        test(`${way} after ${JSON.stringify(pieces.join(''))}`, async () => {
          plan = { way, pieces };
          const seen = [];
          await assert.rejects(() =>
            use((input) => {
              seen.push(input);
              return 'nothing';
            }),
          );
          assert.deepEqual(seen, []);
        });
      }
    }
  });
}
