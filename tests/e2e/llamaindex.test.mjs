// LlamaIndex: the client that takes least kindly to odd streams.
import { before, describe, test } from 'node:test';
import { openai } from '@llamaindex/openai';
import { tool } from 'llamaindex';
import {
  check_conversation,
  from_openai_usage,
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

async function whole_turn(llm, request) {
  const { raw, message } = await llm.chat(request);
  const calls = (message.options?.toolCall ?? []).map(({ id, name, input }) => ({
    id,
    name,
    arguments: input,
  }));
  return {
    text: message.content,
    calls,
    finish: raw.choices[0].finish_reason,
    usage: from_openai_usage(raw.usage),
  };
}

// A piece carries the call that is being written; the last piece with an id has the whole of it.
async function streamed_turn(llm, request) {
  const turn = { text: '', calls: [], finish: null, usage: null };
  for await (const { delta, options, raw } of await llm.chat({ ...request, stream: true })) {
    turn.text += delta;
    for (const { id, name, input } of options?.toolCall ?? []) {
      const known = turn.calls.find((call) => call.id === id);
      if (known) known.arguments = input;
      else turn.calls.push({ id, name, arguments: input });
    }
    turn.finish = raw.choices[0]?.finish_reason ?? turn.finish;
    if (raw.usage) turn.usage = from_openai_usage(raw.usage);
  }
  return turn;
}

const kWays = { stream: streamed_turn, whole: whole_turn };

async function converse(model, send, more) {
  const tools = make_tools();
  const runnable = ['get_weather', 'add'].map((name) =>
    tool({
      name,
      description: tools[name].description,
      parameters: tools[name].schema,
      execute: tools[name].run,
    }),
  );
  const llm = openai({
    model,
    apiKey: 'k',
    baseURL: gateway.v1,
    maxRetries: 0,
    timeout: 20_000,
    additionalChatOptions: more,
  });
  const messages = [{ role: 'user', content: kQuestion }];
  const turns = [];
  for (let i = 0; i < kTurns.length; ++i) {
    const turn = await send(llm, { messages, tools: runnable });
    turns.push(turn);
    const calls = turn.calls.map(({ id, name, arguments: input }) => ({ id, name, input }));
    messages.push({
      role: 'assistant',
      content: turn.text,
      options: calls.length > 0 ? { toolCall: calls } : {},
    });
    for (const { id, name, input } of calls) {
      const value = typeof input === 'string' ? JSON.parse(input) : input;
      const result = await runnable
        .find((candidate) => candidate.metadata.name === name)
        .call(value);
      messages.push({
        role: 'user',
        content: result,
        options: { toolResult: { id, result, isError: false } },
      });
    }
  }
  return { turns, seen: tools.seen };
}

for (const model of kModels) {
  describe(`llamaindex, ${model} upstream`, () => {
    for (const [way, send] of Object.entries(kWays)) {
      test(way, async () => {
        const more = way === 'stream' ? { stream_options: { include_usage: true } } : {};
        const { turns, seen } = await converse(model, send, more);
        check_conversation(turns, { model, seen });
      });
    }
  });
}
