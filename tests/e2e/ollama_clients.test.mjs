// The Ollama client holds the conversation with models that speak another format, and finds what editors look for.
import { before, test } from 'node:test';
import assert from 'node:assert/strict';
import { Ollama } from 'ollama';
import {
  check_conversation,
  kQuestion,
  kResults,
  kWireTools,
  start_conversation,
} from './conversation.mjs';
import { file_scope } from './harness.mjs';

const scope = file_scope();
let ollama;
let gateway;
before(async () => {
  gateway = await start_conversation(scope);
  ollama = new Ollama({ host: gateway.url });
});

// What a client adds up from the lines of a stream.
function joined(lines) {
  const message = { role: 'assistant', content: '', tool_calls: [] };
  for (const { message: said } of lines) {
    message.content += said.content;
    message.tool_calls.push(...(said.tool_calls ?? []));
  }
  if (message.tool_calls.length === 0) delete message.tool_calls;
  return { ...lines.at(-1), message };
}

const kWays = {
  stream: async (request) => {
    const lines = [];
    for await (const line of await ollama.chat({ ...request, stream: true })) lines.push(line);
    return joined(lines);
  },
  whole: async (request) => ollama.chat({ ...request, stream: false }),
};

// With its ids, or as clients send them that know no ids.
const kHabits = {
  'with ids': (message) => message,
  'without ids': (message) => ({
    ...message,
    tool_calls: message.tool_calls?.map(({ function: { name, arguments: args } }) => ({
      function: { name, arguments: args },
    })),
  }),
};

for (const model of ['clean', 'rough', 'spoken']) {
  for (const [way, ask] of Object.entries(kWays)) {
    for (const [habit, kept] of Object.entries(kHabits)) {
      test(`${model} upstream, ${way}, ${habit}`, async () => {
        const messages = [{ role: 'user', content: kQuestion }];
        const turns = [];
        for (let i = 0; i < 2; ++i) {
          const answer = await ask({ model, messages, tools: kWireTools });
          const calls = answer.message.tool_calls ?? [];
          assert.equal(answer.done, true);
          assert.equal(answer.done_reason, 'stop');
          messages.push(kept(answer.message));
          for (const call of calls) {
            const { name } = call.function;
            messages.push({ role: 'tool', tool_name: name, content: kResults[name] });
          }
          turns.push({
            text: answer.message.content,
            calls: calls.map(({ id, function: { name, arguments: args } }) => ({
              id,
              name,
              arguments: args,
            })),
            usage: { prompt: answer.prompt_eval_count, completion: answer.eval_count },
          });
        }
        check_conversation(turns, { model, hides: ['finish', 'total', 'cached', 'reasoning'] });
      });
    }
  }
}

test('generate', async () => {
  const whole = await ollama.generate({ model: 'clean', prompt: 'x', stream: false }).catch((e) => e);
  // The script has no rule for it: the error is the model's own.
  assert.match(String(whole.message), /no rule for this request/);
});

test('what editors ask', async () => {
  assert.match((await ollama.version()).version, /^\d+\.\d+\.\d+$/);
  const { models } = await ollama.list();
  assert.ok(models.some(({ name }) => name === 'clean'));
  const shown = await ollama.show({ model: 'clean' });
  assert.ok(shown.capabilities.includes('tools'));
  const architecture = shown.model_info['general.architecture'];
  assert.ok(shown.model_info[`${architecture}.context_length`] > 4096);
  assert.deepEqual((await ollama.ps()).models, []);
});

test('errors name the field', async () => {
  await assert.rejects(
    ollama.chat({ model: 'clean', messages: [{ role: 'robot', content: 'x' }] }),
    /messages\[0\]\.role/,
  );
  await assert.rejects(ollama.chat({ model: 'nobody', messages: [{ role: 'user', content: 'x' }] }));
});
