// The openai client's legacy Completions.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import OpenAI from 'openai';
import { start_gateway, start_mock } from './harness.mjs';

async function start(scope) {
  const mock = await start_mock(
    scope,
    'cut 3\nreasoning "Hm."\ntext "Once upon a time."\nusage prompt=3 completion=4\n',
  );
  const gateway = await start_gateway(scope, {
    upstream: [{ name: 'scripted', url: mock.v1 }],
    model: [{ name: 'm', upstream: 'scripted', retries: 0 }],
  });
  return new OpenAI({ apiKey: 'k', baseURL: gateway.v1, maxRetries: 0 });
}

test('whole', async (scope) => {
  const openai = await start(scope);
  const answer = await openai.completions.create({ model: 'm', prompt: 'Tell.' });
  assert.equal(answer.object, 'text_completion');
  assert.equal(answer.choices[0].text, 'Once upon a time.');
  assert.equal(answer.choices[0].finish_reason, 'stop');
  assert.equal(answer.usage.total_tokens, 7);
});

test('stream', async (scope) => {
  const openai = await start(scope);
  let text = '';
  let finish;
  let usage;
  for await (const chunk of await openai.completions.create({
    model: 'm',
    prompt: ['Tell.'],
    stream: true,
    stream_options: { include_usage: true },
  })) {
    text += chunk.choices[0]?.text ?? '';
    finish = chunk.choices[0]?.finish_reason ?? finish;
    usage = chunk.usage ?? usage;
  }
  assert.equal(text, 'Once upon a time.');
  assert.equal(finish, 'stop');
  assert.equal(usage.total_tokens, 7);
});

test('what it cannot serve', async (scope) => {
  const openai = await start(scope);
  for (const more of [{ suffix: 'x' }, { echo: true }, { logprobs: 2 }, { prompt: ['a', 'b'] }]) {
    await assert.rejects(
      openai.completions.create({ model: 'm', prompt: 'Tell.', ...more }),
      (error) => error.status === 400 && Object.keys(more)[0] === error.param,
    );
  }
});
