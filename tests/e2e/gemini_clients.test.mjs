// Clients of the Gemini API hold the conversation with models that speak another format.
import { before, describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { GoogleGenAI } from '@google/genai';
import { generateText, isStepCount, streamText, tool } from 'ai';
import {
  check_conversation,
  kQuestion,
  kResults,
  kSchemas,
  make_tools,
  start_conversation,
} from './conversation.mjs';
import { file_scope } from './harness.mjs';

const kModels = ['clean', 'rough', 'spoken'];
const scope = file_scope();
let gateway;
before(async () => {
  gateway = await start_conversation(scope);
});

const usage_of = (usage) => ({
  prompt: usage?.promptTokenCount,
  completion: (usage?.candidatesTokenCount ?? 0) + (usage?.thoughtsTokenCount ?? 0),
  total: usage?.totalTokenCount,
  cached: usage?.cachedContentTokenCount ?? 0,
  reasoning: usage?.thoughtsTokenCount ?? 0,
});

// The answer of a turn from the objects that it came in.
function to_turn(chunks) {
  const parts = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);
  const calls = parts.filter((part) => part.functionCall).map((part) => part.functionCall);
  const last = chunks.at(-1);
  return {
    parts,
    text: parts.map((part) => (part.thought ? '' : (part.text ?? ''))).join(''),
    calls: calls.map(({ id, name, args }) => ({ id, name, arguments: args })),
    finish: last.candidates[0].finishReason,
    usage: usage_of(last.usageMetadata),
  };
}

const kWays = {
  stream: async (ai, request) => {
    const chunks = [];
    for await (const chunk of await ai.models.generateContentStream(request)) chunks.push(chunk);
    return chunks;
  },
  whole: async (ai, request) => [await ai.models.generateContent(request)],
};

for (const model of kModels) {
  for (const [way, ask] of Object.entries(kWays)) {
    test(`@google/genai, ${model} upstream: ${way}`, async () => {
      const ai = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: gateway.url } });
      const functionDeclarations = Object.entries(kSchemas).map(([name, schema]) => ({
        name,
        description: `Runs ${name}`,
        parametersJsonSchema: schema,
      }));
      const contents = [{ role: 'user', parts: [{ text: kQuestion }] }];
      const turns = [];
      for (let i = 0; i < 2; ++i) {
        const turn = to_turn(await ask(ai, { model, contents, config: { tools: [{ functionDeclarations }] } }));
        turns.push(turn);
        contents.push({ role: 'model', parts: turn.parts });
        contents.push({
          role: 'user',
          parts: turn.calls.map(({ id, name }) => ({
            functionResponse: { id, name, response: { output: kResults[name] } },
          })),
        });
        assert.equal(turn.finish, 'STOP');
      }
      check_conversation(turns, { model, hides: ['finish'] });
    });
  }

  test(`@google/genai chat, ${model} upstream: streamed history`, async () => {
    const ai = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: gateway.url } });
    const functionDeclarations = Object.entries(kSchemas).map(([name, schema]) => ({
      name,
      parametersJsonSchema: schema,
    }));
    const chat = ai.chats.create({ model, config: { tools: [{ functionDeclarations }] } });
    const first = [];
    for await (const chunk of await chat.sendMessageStream({ message: kQuestion })) first.push(chunk);
    const called = to_turn(first).calls;
    const second = [];
    const message = called.map(({ id, name }) => ({
      functionResponse: { id, name, response: { output: kResults[name] } },
    }));
    for await (const chunk of await chat.sendMessageStream({ message })) second.push(chunk);
    check_conversation([to_turn(first), to_turn(second)], { model, hides: ['finish'] });
  });
}

test('@google/genai: an error names the field', async () => {
  const ai = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: gateway.url } });
  await assert.rejects(
    ai.models.generateContent({ model: 'clean', contents: [{ role: 'robot', parts: [{ text: 'x' }] }] }),
    (error) => error.status === 400 && /contents\[0\]\.role/.test(error.message),
  );
  await assert.rejects(
    ai.models.generateContent({ model: 'nobody', contents: 'x' }),
    (error) => error.status === 404,
  );
});

test('@google/genai: models', async () => {
  const ai = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: gateway.url } });
  const names = [];
  for await (const model of await ai.models.list()) names.push(model.name);
  assert.ok(names.includes('models/clean'));
  assert.equal((await ai.models.get({ model: 'clean' })).name, 'models/clean');
});

function ai_turn(step) {
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
      cached: usage.inputTokenDetails.cacheReadTokens ?? 0,
      reasoning: usage.outputTokenDetails.reasoningTokens ?? 0,
    },
  };
}

const kAiWays = {
  stream: async (options) => {
    const errors = [];
    const result = streamText({ ...options, onError: ({ error }) => errors.push(error) });
    await result.consumeStream();
    if (errors.length > 0) throw errors[0];
    return result.steps;
  },
  whole: async (options) => (await generateText(options)).steps,
};

for (const model of kModels) {
  describe(`@ai-sdk/google, ${model} upstream`, () => {
    for (const [way, run] of Object.entries(kAiWays)) {
      test(way, async () => {
        const google = createGoogleGenerativeAI({ apiKey: 'k', baseURL: `${gateway.url}/v1beta` });
        const tools = make_tools();
        const wrap = ({ description, schema, run: execute }) =>
          tool({ description, inputSchema: schema, execute });
        const steps = await run({
          model: google(model),
          tools: { get_weather: wrap(tools.get_weather), add: wrap(tools.add) },
          prompt: kQuestion,
          stopWhen: isStepCount(4),
          maxRetries: 0,
          abortSignal: AbortSignal.timeout(20_000),
        });
        check_conversation(steps.map(ai_turn), { model, seen: tools.seen });
      });
    }
  });
}
