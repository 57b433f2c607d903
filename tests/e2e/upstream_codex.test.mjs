// Codex as an upstream, with `callgate mock --stdio` in its place: what it is told, what clients get, and what happens
// when one of the two goes away.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { check_stream, check_whole } from './chat_contract.mjs';
import { eventually, make_folder, start_gateway } from './harness.mjs';
import { ChatStream, fetch_text, post } from './http.mjs';

const kScript = `
seed 3
cut 4
rule greet
  when turn 0
  when user contains "Hi"
  text "Hello there."
  usage prompt=10 completion=3
rule one
  when turn 1
  reasoning "Weather."
  text "Let me look."
  call get_weather {"city": "Zürich"} id=call_a
  usage prompt=20 completion=7 cached=5
rule two
  when turn 2
  call get_weather {"city": "Oslo"} id=call_b
  call get_time {} id=call_c
  usage prompt=30 completion=9
rule end
  when turn 3
  text "18 and noon."
  usage prompt=40 completion=4
rule slow
  when user contains "slow"
  text "One"
  hang
rule calls
  when user contains "call"
  call get_weather {"city": "Bern"} id=call_d
`;

const kTools = ['get_weather', 'get_time'].map((name) => ({
  type: 'function',
  function: { name, description: `${name}!`, parameters: { type: 'object', properties: {} } },
}));

function start_codex(t, { wire = 'codex_app_server', retries = 0, ...upstream } = {}) {
  const folder = make_folder(t);
  const script = join(folder, 'model.script');
  const record = join(folder, 'record');
  writeFileSync(script, kScript);
  const command = [process.env.CALLGATE, 'mock', '--stdio', wire, '--script', script, '--record', record];
  const config = {
    upstream: [{ name: 'codex', wire, command, restart_backoff: '20ms', ...upstream }],
    model: [{ name: 'm', upstream: 'codex', id: 'gpt-x', retries, retry_backoff: '20ms' }],
  };
  const told = () =>
    existsSync(record)
      ? readFileSync(record, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line))
      : [];
  return start_gateway(t, config).then((gateway) => ({ gateway, told, script }));
}

async function ask(gateway, stream, messages, more = { tools: kTools }) {
  const body = { model: 'm', messages, ...more };
  if (!stream) {
    const answer = await post(`${gateway.v1}/chat/completions`, body);
    if (answer.status !== 200) return { status: answer.status, error: answer.json().error };
    const { choices, usage } = check_whole(answer.json());
    const [{ message, finish_reason }] = choices;
    return {
      status: 200,
      text: message.content ?? '',
      reasoning: message.reasoning_content ?? '',
      calls: (message.tool_calls ?? []).map((call) => ({ id: call.id, ...call.function })),
      finish_reason,
      usage,
    };
  }
  const opened = await ChatStream.open(gateway.url, { ...body, stream_options: { include_usage: true } });
  for await (const frame of opened) void frame;
  return {
    status: opened.status,
    ...check_stream(opened.frames.map((frame) => frame.data), { include_usage: true }),
  };
}

const said = ({ text, calls }) => ({
  role: 'assistant',
  content: text || null,
  ...(calls.length > 0 && {
    tool_calls: calls.map(({ id, name, arguments: args }) => ({
      id,
      type: 'function',
      function: { name, arguments: args },
    })),
  }),
});
const child_of = (gateway) =>
  execFileSync('pgrep', ['-P', String(gateway.pid)]).toString().trim().split('\n').map(Number);

describe('a conversation of four turns with app-server', () => {
  for (const stream of [true, false]) {
    test(stream ? 'streamed' : 'whole', async (t) => {
      const { gateway, told } = await start_codex(t);
      const messages = [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ];
      const turn = async (...next) => {
        const answer = await ask(gateway, stream, messages);
        messages.push(said(answer), ...next);
        return answer;
      };
      const first = await turn({ role: 'user', content: 'How is the weather?' });
      assert.equal(first.text, 'Hello there.');
      assert.equal(first.finish_reason, 'stop');
      assert.equal(first.usage.total_tokens, 13);

      const second = await turn({ role: 'tool', tool_call_id: 'call_a', content: '18 °C' });
      assert.equal(second.text, 'Let me look.');
      assert.equal(second.reasoning, 'Weather.');
      assert.deepEqual(second.calls, [
        { id: 'call_a', name: 'get_weather', arguments: '{"city": "Zürich"}' },
      ]);
      assert.equal(second.finish_reason, 'tool_calls');
      assert.equal(second.usage.prompt_tokens_details.cached_tokens, 5);

      const third = await turn(
        { role: 'tool', tool_call_id: 'call_c', content: '' },
        { role: 'tool', tool_call_id: 'call_b', content: [{ type: 'text', text: '5 °C' }] },
      );
      assert.deepEqual(
        third.calls.map((call) => [call.id, call.name, call.arguments]),
        [
          ['call_b', 'get_weather', '{"city": "Oslo"}'],
          ['call_c', 'get_time', '{}'],
        ],
      );
      assert.equal(third.usage.total_tokens, 39);

      const fourth = await turn();
      assert.equal(fourth.text, '18 and noon.');
      assert.equal(fourth.finish_reason, 'stop');
      assert.equal(fourth.usage.total_tokens, 44);

      const result = (id, text) => ({
        id,
        result: { contentItems: [{ type: 'inputText', text }], success: true },
      });
      assert.deepEqual(told(), [
        {
          method: 'initialize',
          id: 0,
          params: {
            clientInfo: { name: 'callgate', title: 'Callgate', version: '0.2.0' },
            capabilities: { experimentalApi: true },
          },
        },
        { method: 'initialized' },
        {
          method: 'thread/start',
          id: 1,
          params: {
            ephemeral: true,
            experimentalRawEvents: true,
            approvalPolicy: 'never',
            sandbox: 'read-only',
            environments: [],
            model: 'gpt-x',
            baseInstructions: 'Be brief.',
            dynamicTools: kTools.map(({ function: { name, description, parameters } }) => ({
              type: 'function',
              name,
              description,
              inputSchema: parameters,
            })),
          },
        },
        {
          method: 'turn/start',
          id: 2,
          params: { threadId: 'thread_1', input: [{ type: 'text', text: 'Hi' }] },
        },
        {
          method: 'turn/start',
          id: 3,
          params: { threadId: 'thread_1', input: [{ type: 'text', text: 'How is the weather?' }] },
        },
        result(0, '18 °C'),
        result(1, '5 °C'),
        result(2, ''),
      ]);
    });
  }
});

test('a conversation that codex does not know is told to it whole', async (t) => {
  const { gateway, told } = await start_codex(t);
  const messages = [
    { role: 'user', content: [{ type: 'text', text: 'What is it?' }, { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }] },
    { role: 'assistant', content: 'A dot.' },
    { role: 'user', content: 'Look again, call me' },
    said({ text: '', calls: [{ id: 'old', name: 'get_time', arguments: '{}' }] }),
    { role: 'tool', tool_call_id: 'old', content: 'noon' },
  ];
  const answer = await ask(gateway, false, [...messages, said({ text: 'So.', calls: [] }), { role: 'user', content: 'slow? call' }], { tools: kTools, temperature: 0.5 });
  assert.equal(answer.status, 200);
  assert.deepEqual(told()[3].params.items, [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'What is it?' }, { type: 'input_image', image_url: 'data:image/png;base64,AA==' }] },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'A dot.' }] },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Look again, call me' }] },
    { type: 'function_call', name: 'get_time', arguments: '{}', call_id: 'old' },
    { type: 'function_call_output', call_id: 'old', output: 'noon' },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'So.' }] },
  ]);
});

test('a client that leaves interrupts the turn', async (t) => {
  const { gateway, told } = await start_codex(t);
  const stream = await ChatStream.open(gateway.url, {
    model: 'm',
    messages: [{ role: 'user', content: 'slow' }],
  });
  for await (const frame of stream) if (frame.data?.includes('One')) break;
  stream.request.destroy();
  const interrupt = await eventually('turn/interrupt', () =>
    told().find((line) => line.method === 'turn/interrupt'),
  );
  assert.deepEqual(interrupt.params, { threadId: 'thread_1', turnId: 'turn_1' });
});

test('a call that nobody answers is given up, and its answer still works later', async (t) => {
  const { gateway, told } = await start_codex(t, { call_timeout: '100ms' });
  const messages = [{ role: 'user', content: 'call' }];
  const asked = await ask(gateway, true, messages);
  assert.equal(asked.calls[0].id, 'call_d');
  await eventually('turn/interrupt', () => told().some((line) => line.method === 'turn/interrupt'));
  messages.push(said(asked), { role: 'tool', tool_call_id: 'call_d', content: 'late' });
  const answer = await ask(gateway, true, messages);
  assert.equal(answer.calls[0].id, 'call_a');  // the second turn of the script, on a thread of its own
  const injected = told().find((line) => line.method === 'thread/inject_items');
  assert.deepEqual(injected.params.items.at(-1), { type: 'function_call_output', call_id: 'call_d', output: 'late' });
});

describe('a child that dies', () => {
  test('in the middle of a turn is reported, started again, and told the conversation', async (t) => {
    const { gateway, told } = await start_codex(t);
    const messages = [{ role: 'user', content: 'slow' }];
    const stream = await ChatStream.open(gateway.url, { model: 'm', messages });
    const killed = [];
    for await (const frame of stream) {
      if (!frame.data?.includes('One') || killed.length > 0) continue;
      killed.push(...child_of(gateway));
      process.kill(killed[0], 'SIGKILL');
    }
    const error = JSON.parse(stream.frames.map((frame) => frame.data).find((data) => data?.includes('"error"'))).error;
    assert.match(error.message, /the codex child ended: signal 9/);

    const again = await ask(gateway, true, [...messages, { role: 'assistant', content: 'One' }, { role: 'user', content: 'call' }]);
    assert.equal(again.calls[0].id, 'call_a');
    assert.notDeepEqual(child_of(gateway), killed);
    assert.equal(told().filter((line) => line.method === 'initialize').length, 2);
    const { text } = await fetch_text(`${gateway.url}/metrics`);
    assert.match(text, /^callgate_codex_child_restarts_total\{upstream="codex"\} 1$/m);
    assert.match(text, /^callgate_codex_child_up\{upstream="codex"\} 1$/m);
  });

  test('while calls wait: the result still reaches the model', async (t) => {
    const { gateway } = await start_codex(t, { retries: 2 });
    const messages = [{ role: 'user', content: 'call' }];
    const asked = await ask(gateway, false, messages);
    process.kill(child_of(gateway)[0], 'SIGKILL');
    messages.push(said(asked), { role: 'tool', tool_call_id: 'call_d', content: '3 °C' });
    const answer = await ask(gateway, false, messages);
    assert.equal(answer.status, 200);
    assert.equal(answer.calls[0].id, 'call_a');
  });

  test('of a program that is not there', async (t) => {
    const { gateway } = await start_codex(t, { command: ['callgate-no-such-codex'] });
    const answer = await ask(gateway, false, [{ role: 'user', content: 'Hi' }]);
    assert.equal(answer.status, 503);
    assert.match(answer.error.message, /cannot run "callgate-no-such-codex"/);
  });
});

describe('proto', () => {
  test('keeps a process per conversation and tells a new one what was said', async (t) => {
    const { gateway, told } = await start_codex(t, { wire: 'codex_proto', max_conversations: 1 });
    const messages = [{ role: 'user', content: 'Hi' }];
    const first = await ask(gateway, true, messages, {});
    assert.equal(first.text, 'Hello there.');
    assert.equal(first.usage.total_tokens, 13);
    messages.push(said(first), { role: 'user', content: 'Hi again' });
    const second = await ask(gateway, false, messages, {});
    assert.equal(second.text, 'Let me look.');
    assert.equal(second.reasoning, 'Weather.');
    const other = [{ role: 'system', content: 'Be brief.' }, { role: 'user', content: 'Hi' }];
    assert.equal((await ask(gateway, true, other, {})).text, 'Hello there.');
    const texts = told().map((line) => line.op.items[0].text);
    assert.deepEqual(texts, ['Hi', 'Hi again', '[system]\nBe brief.\n\n[user]\nHi']);
    const op = told()[0].op;
    assert.equal(op.model, 'gpt-x');
    assert.equal(op.approval_policy, 'never');
    assert.deepEqual(op.sandbox_policy, { mode: 'read-only' });
  });

  test('says that it cannot carry tools', async (t) => {
    const { gateway } = await start_codex(t, { wire: 'codex_proto' });
    const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], tools: kTools };
    const answer = await post(`${gateway.v1}/chat/completions`, body);
    assert.equal(answer.headers['x-callgate-dropped'], 'tools');
  });
});
