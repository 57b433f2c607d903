// Every frame and every whole answer that the demo models can give, in Chat, against the contract: required members, their
// types, the order of frames, and the stream folded to what the whole answer says.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check_stream, check_whole } from './chat_contract.mjs';
import { file_scope, Program } from './harness.mjs';
import { fetch_text, post, stream_chat } from './http.mjs';

const scope = file_scope();
const kTools = ['get_weather', 'add', 'search', 'lookup_order'].map((name) => ({
  type: 'function',
  function: { name, description: name, parameters: { type: 'object', properties: {} } },
}));
const kQuestions = ['hello', 'What is the weather in Paris?'];

test('every model of the demo keeps the contract of Chat', async (t) => {
  const gateway = await new Program(scope, ['serve', '--demo', '--listen', '127.0.0.1:0', '--set', 'store.url=none']).ready();
  const models = JSON.parse((await fetch_text(`${gateway.v1}/models`)).text).data.map(({ id }) => id);
  assert.ok(models.length > 3);
  let frames = 0;
  let answers = 0;
  const check = async (model, content, tools) => {
    const body = { model, messages: [{ role: 'user', content }], ...(tools ? { tools } : {}) };
    const whole = await post(`${gateway.v1}/chat/completions`, body);
    if (whole.status !== 200) return; // models that are there to fail
    check_whole(JSON.parse(whole.text));
    const { data } = await stream_chat(gateway.url, { ...body, stream_options: { include_usage: true } });
    check_stream(data, { include_usage: true });
    frames += data.length;
    ++answers;
  };
  // All models at once: some of them take their time on purpose.
  for (const content of kQuestions)
    for (const tools of [undefined, kTools]) await Promise.all(models.map((model) => check(model, content, tools)));
  assert.ok(answers > 20, String(answers));
  t.diagnostic(`${models.length} models, ${answers} answers, ${frames} frames`);
});
