// The real codex behind the gateway, and `callgate mock` behind the real codex: app-server 0.166 with a tool of the client,
// and proto 0.42 with both of its APIs. Both think that they talk to OpenAI.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { packages, start_model } from './agent.mjs';
import { check_stream, check_whole } from './chat_contract.mjs';
import { eventually, make_folder, start_gateway } from './harness.mjs';
import { ChatStream, post } from './http.mjs';

const kTools = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      description: 'The weather in a city',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  },
];

// A gateway before a codex whose model is at `url`.
function start_codex(t, { wire, program, url, wire_api }) {
  const home = make_folder(t);
  const config = `
model = "mock-model"
model_provider = "mock"
[model_providers.mock]
name = "mock"
base_url = "${url}"
wire_api = "${wire_api}"
request_max_retries = 0
stream_max_retries = 0
`;
  writeFileSync(join(home, 'config.toml'), config);
  const launcher = join(packages, program, 'bin', 'codex.js');
  const upstream = {
    name: 'codex',
    wire,
    command: [process.execPath, launcher, wire === 'codex_proto' ? 'proto' : 'app-server'],
    env: { CODEX_HOME: home, HOME: home },
    start_timeout: '30s',
  };
  const model = { name: 'm', upstream: 'codex', id: 'mock-model', retries: 0 };
  return start_gateway(t, { upstream: [upstream], model: [model] });
}

const whole = async (gateway, messages, more) => {
  const answer = await post(`${gateway.v1}/chat/completions`, { model: 'm', messages, ...more });
  assert.equal(answer.status, 200, answer.text);
  return check_whole(answer.json());
};
const child_of = (gateway) =>
  Number(execFileSync('pgrep', ['-P', String(gateway.pid)]).toString().trim());
const last = (request, count) => request.input.slice(-count);

test('app-server: two turns with a tool, and a child that is killed', async (t) => {
  const model = await start_model(
    t,
    `
usage prompt=25 completion=15 cached=5
cut 4
rule results
  when last tool
  when tool contains "24 degrees"
  text "It is 24 degrees."
rule weather
  when user contains "weather"
  text "Let me look."
  call get_weather {"city": "Paris"} id=call_paris
  call get_weather {"city": "Rome"} id=call_rome
rule slow
  when user contains "slow"
  text "This never ends"
  hang
rule thanks
  text "You are welcome."
`,
  );
  const gateway = await start_codex(t, {
    wire: 'codex_app_server',
    program: 'codex-app-server',
    url: model.url,
    wire_api: 'responses',
  });
  const messages = [
    { role: 'system', content: 'You are brief.' },
    { role: 'user', content: 'How is the weather?' },
  ];

  // The calls reach the client, streamed, with the model's own words and ids.
  const stream = await ChatStream.open(gateway.url, {
    model: 'm',
    messages,
    tools: kTools,
    stream_options: { include_usage: true },
  });
  const asked = check_stream(await stream.data(), { include_usage: true });
  assert.equal(asked.text, 'Let me look.');
  assert.equal(asked.finish_reason, 'tool_calls');
  assert.deepEqual(asked.calls, [
    { id: 'call_paris', name: 'get_weather', arguments: '{"city": "Paris"}' },
    { id: 'call_rome', name: 'get_weather', arguments: '{"city": "Rome"}' },
  ]);
  assert.deepEqual(
    [asked.usage.prompt_tokens, asked.usage.completion_tokens, asked.usage.total_tokens],
    [25, 15, 40],
  );
  const [first] = model.requests;
  assert.ok(JSON.stringify(first).includes('You are brief.'));
  assert.ok(first.tools.some((tool) => tool.name === 'get_weather'));

  // The results reach the model, and its answer the client: the same turn of codex.
  messages.push(
    {
      role: 'assistant',
      content: asked.text,
      tool_calls: asked.calls.map(({ id, ...call }) => ({ id, type: 'function', function: call })),
    },
    { role: 'tool', tool_call_id: 'call_paris', content: '18 degrees' },
    { role: 'tool', tool_call_id: 'call_rome', content: '24 degrees' },
  );
  const answered = await whole(gateway, messages, { tools: kTools });
  assert.equal(answered.choices[0].message.content, 'It is 24 degrees.');
  assert.equal(answered.usage.total_tokens, 40);
  assert.deepEqual(
    last(model.requests[1], 2).map(({ type, call_id, output }) => [type, call_id, output]),
    [
      ['function_call_output', 'call_paris', '18 degrees'],
      ['function_call_output', 'call_rome', '24 degrees'],
    ],
  );

  // The next question is a turn of the same thread.
  messages.push({ role: 'assistant', content: 'It is 24 degrees.' }, { role: 'user', content: 'Thanks' });
  const thanked = await whole(gateway, messages, { tools: kTools });
  assert.equal(thanked.choices[0].message.content, 'You are welcome.');
  assert.equal(model.requests.length, 3);
  assert.ok(model.requests[2].input.length > model.requests[1].input.length);

  // A client that leaves: codex drops the request to its model.
  messages.push({ role: 'assistant', content: 'You are welcome.' }, { role: 'user', content: 'now slow' });
  const left = await ChatStream.open(gateway.url, { model: 'm', messages, tools: kTools });
  for await (const frame of left) if (frame.data?.includes('This')) break;
  left.leave();
  await eventually('the end of the request to the model', () => model.answering() === 0);

  // A child that is killed in the middle of a turn: a clear error, and the next request works.
  const cut = await ChatStream.open(gateway.url, { model: 'm', messages, tools: kTools });
  let killed = 0;
  for await (const frame of cut) {
    if (killed !== 0 || !frame.data?.includes('This')) continue;
    killed = child_of(gateway);
    process.kill(killed, 'SIGKILL');
  }
  const errors = cut.frames.filter((frame) => frame.data?.includes('"error"'));
  assert.match(JSON.parse(errors[0].data).error.message, /the codex child ended: signal 9/);
  messages.push({ role: 'assistant', content: 'This' }, { role: 'user', content: 'Thanks' });
  const again = await whole(gateway, messages, { tools: kTools });
  assert.equal(again.choices[0].message.content, 'You are welcome.');
  assert.notEqual(child_of(gateway), killed);
  const told = JSON.stringify(model.requests.at(-1).input);
  for (const text of ['How is the weather?', 'call_paris', '18 degrees', 'It is 24 degrees.']) {
    assert.ok(told.includes(text), `the new child's model was told: ${text}`);
  }
});

for (const wire_api of ['chat', 'responses']) {
  test(`proto over ${wire_api}: a text turn, and a question behind it`, async (t) => {
    const model = await start_model(
      t,
      'rule first\n  when user contains "Hello"\n  text "Good day."\nrule second\n  text "Still here."\n',
    );
    const gateway = await start_codex(t, {
      wire: 'codex_proto',
      program: 'codex-proto',
      url: model.url,
      wire_api,
    });
    const messages = [{ role: 'user', content: 'Hello' }];
    const first = await whole(gateway, messages);
    assert.equal(first.choices[0].message.content, 'Good day.');
    assert.equal(first.choices[0].finish_reason, 'stop');
    messages.push(
      { role: 'assistant', content: 'Good day.' },
      { role: 'user', content: 'And now?' },
    );
    const stream = await ChatStream.open(gateway.url, { model: 'm', messages });
    assert.equal(check_stream(await stream.data()).text, 'Still here.');
    const asked = model.requests.map((request) => (request.input === undefined ? 'chat' : 'responses'));
    assert.deepEqual(asked, [wire_api, wire_api]);
  });
}
