// What policies do to a tool loop: sentences, reasoning, calls as text, cuts, usage that no upstream tells.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { check_stream } from './chat_contract.mjs';
import { eventually, file_scope, start_gateway } from './harness.mjs';
import { ask, ChatStream, post, stream_chat } from './http.mjs';
import { chunk, kEnd, kEventStream, kHead, say, start_upstream } from './upstream.mjs';

const scope = file_scope();

const call = (index, name, id, args = '{}') =>
  chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: args } }] });
const think = (text) => chunk({ reasoning_content: text });
const usage = (prompt, completion) =>
  `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion } })}\n\n`;
const kStop = chunk({}, { finish_reason: 'stop' });
const kDone = 'data: [DONE]\n\n';
const kFailure = 'data: {"error":{"message":"down"}}\n\n';
const kCallEnd = chunk({}, { finish_reason: 'tool_calls' }) + kDone;

// By the first word that the user says: the model's turns.
const kTurns = {
  order: [
    kHead + say('I am on it, Dr. Wh') + say('o. Let me lo') + call(0, 'time', 't1') + kCallEnd,
    kHead + say('I have found it. It is la') + say('te') + kEnd,
  ],
  reason: [
    kHead + think('hm') + say('One moment pl') + call(0, 'time', 't1') + kCallEnd,
    kHead + think('so') + say('Done it is. Bye') + kEnd,
  ],
  tail: [
    kHead + say('a ') + call(0, 'time', 't1') + say(' tail') + kCallEnd,
    kHead + say('end') + kEnd,
  ],
  own: [kHead + say('for you ') + call(0, 'mine', 'c1', '{"q":"x"}') + kCallEnd],
  told: [
    kHead + call(0, 'time', 't1') + chunk({}, { finish_reason: 'tool_calls' }) + usage(10, 5) + kDone,
    kHead + say('end') + kStop + usage(20, 10) + kDone,
  ],
  half: [
    kHead + call(0, 'time', 't1') + chunk({}, { finish_reason: 'tool_calls' }) + usage(10, 5) + kDone,
    kHead + say('endless') + kEnd,
  ],
  broken: [kHead + call(0, 'time', 't1') + kFailure, kHead + say('after all') + kEnd],
};

let upstream;
let gateway;
let left = 0;
let go_on; // of a model that muses
before(async () => {
  upstream = await start_upstream(scope, async (request, response) => {
    const { messages } = JSON.parse(request.text);
    const word = messages.find((message) => message.role === 'user').content;
    const turn = messages.filter((message) => message.role === 'assistant').length;
    response.writeHead(200, kEventStream);
    if (word === 'muse') {
      response.write(kHead + think('so ') + think('it is'));
      go_on = () => response.end(think('is ') + think('it') + say('well') + kEnd);
      return undefined;
    }
    if (word !== 'talker') return response.end(kTurns[word][turn]);
    // Calls a tool and goes on talking until nobody listens.
    if (turn > 0) return response.end(kHead + say('end') + kEnd);
    response.on('close', () => ++left);
    response.write(kHead + call(0, 'time', 't1') + say('blah'));
  });
  gateway = await start_gateway(scope, {
    upstream: [{ name: 'main', url: upstream.v1 }],
    model: [
      { name: 'm', upstream: 'main', loop: true, stop_after_tools_grace: '50ms' },
      { name: 'patient', upstream: 'main', loop: true, reasoning_coalesce: '30ms' },
    ],
    tool: [{ name: 'time', kind: 'builtin', builtin: 'time' }],
  });
});

const deltas = (data, name = 'content') =>
  data
    .filter((line) => line !== '[DONE]')
    .map((line) => JSON.parse(line).choices[0]?.delta[name])
    .filter(Boolean);
const kSplit = { split: 'sentences' };

describe('sentences', () => {
  for (const [mode, shown] of [
    ['hidden', false],
    ['shown', true],
  ]) {
    test(`end with a round, and before a call: calls ${mode}`, async () => {
      const callgate = { ...kSplit, show_tool_calls: shown };
      const { data } = await stream_chat(gateway.url, ask('order', { callgate }));
      assert.deepEqual(deltas(data), [
        'I am on it, Dr. Who. ',
        'Let me lo',
        '\n\nI have found it. ',
        'It is late',
      ]);
      const whole = await post(`${gateway.v1}/chat/completions`, ask('order', { callgate }));
      assert.equal(whole.json().choices[0].message.content, deltas(data).join(''));
    });
  }

  test('leave before the tool runs', async () => {
    const body = ask('order', { callgate: { ...kSplit, show_tool_calls: true } });
    const { data } = await stream_chat(gateway.url, body);
    const text = data.findIndex((line) => line.includes('Let me lo'));
    const shown = data.findIndex((line) => line.includes('callgate.tool_call'));
    assert.ok(text >= 0 && text < shown);
  });

  test('in the query of the address', async () => {
    const url = `${gateway.v1}/chat/completions?split=sentences`;
    const { text } = await post(url, ask('order', { stream: true }));
    assert.match(text, /"I am on it, Dr\. Who\. "/);
  });

  test('reasoning in tags is part of the text', async () => {
    const { data } = await stream_chat(gateway.url, ask('reason', { callgate: kSplit }), {
      headers: { 'x-callgate-reasoning': 'think_tags' },
    });
    assert.deepEqual(deltas(data), [
      '<think>hm</think>One moment pl',
      '<think>so</think>\n\n',
      'Done it is. Bye',
    ]);
  });
});

describe('the form of a turn', () => {
  const get = (word, headers, more = {}) => stream_chat(gateway.url, ask(word, more), { headers });

  test('coalesced reasoning leaves when its time is over, though the model is silent', async () => {
    const stream = await ChatStream.open(gateway.url, ask('muse', { model: 'patient' }));
    const pieces = [];
    for await (const frame of stream) {
      if (frame.data === '[DONE]') break;
      const piece = JSON.parse(frame.data).choices[0]?.delta.reasoning_content;
      if (piece) pieces.push(piece);
      if (piece === 'so it is') go_on();
    }
    assert.deepEqual(pieces, ['so it is', 'is it']);
  });

  test('reasoning is hidden', async () => {
    const hidden = await get('reason', { 'x-callgate-reasoning': 'hide' });
    assert.deepEqual(deltas(hidden.data, 'reasoning_content'), []);
    const plain = await get('reason', {});
    assert.deepEqual(deltas(plain.data, 'reasoning_content'), ['hm', 'so']);
  });

  test('text after the last call of a round is withheld', async () => {
    const kept = await get('tail', {});
    assert.equal(deltas(kept.data).join(''), 'a  tail\n\nend');
    for (const headers of [
      { 'x-callgate-suppress-tail-after-tools': 'true' },
      { 'x-callgate-output': 'json' },
    ]) {
      const { data } = await get('tail', headers);
      assert.equal(deltas(data).join(''), 'a end');
    }
  });

  test("the client's own calls are written as text", async () => {
    const tools = [{ type: 'function', function: { name: 'mine', parameters: {} } }];
    const { data } = await get('own', { 'x-callgate-output': 'xml_only' }, { tools });
    const turn = check_stream(data, { tools });
    assert.equal(turn.calls.length, 0);
    assert.match(turn.text, /^for you <use_tool>\n {2}<name>mine<\/name>/);
  });

  test('a round is cut after its calls, and its upstream is left', async () => {
    for (const mode of ['first', 'burst']) {
      const before_it = left;
      const { data } = await get('talker', { 'x-callgate-stop-after-tools': mode });
      assert.match(deltas(data).join(''), /end$/);
      await eventually('the end of the upstream', () => left === before_it + 1);
    }
  });

  test('a round that fails after its calls goes on with them', async () => {
    const failed = await post(`${gateway.v1}/chat/completions`, ask('broken'));
    assert.equal(failed.status, 502);
    const { data } = await get('broken', { 'x-callgate-error-after-tools': 'tool_calls' });
    assert.equal(deltas(data).join(''), 'after all');
  });
});

describe('usage', () => {
  const counted = { stream_options: { include_usage: true } };
  const last = (data) => JSON.parse(data.at(-2)).usage;

  test('is the sum of what upstreams tell', async () => {
    const { data } = await stream_chat(gateway.url, ask('told', counted));
    assert.equal(last(data).total_tokens, 45);
    assert.equal(last(data).estimated, undefined);
  });

  test('is an estimate that says so when a round does not tell it', async () => {
    const { data } = await stream_chat(gateway.url, ask('half', counted));
    const streamed = last(data);
    assert.equal(streamed.estimated, true);
    assert.equal(streamed.completion_tokens, 5 + 2, 'what was told, and seven bytes');
    assert.ok(streamed.prompt_tokens > 10);
    const whole = await post(`${gateway.v1}/chat/completions`, ask('half'));
    assert.deepEqual(whole.json().usage, streamed);
    assert.equal(whole.headers['x-callgate-usage'], 'estimated');
    const off = await post(`${gateway.v1}/chat/completions`, ask('half'), {
      headers: { 'x-callgate-estimate-usage': 'false' },
    });
    assert.equal(off.json().usage.total_tokens, 15);
  });

  test('counters are told where a request asks for them', async () => {
    const stream = await ChatStream.open(gateway.url, ask('order'), {
      headers: { 'x-callgate-trailing-counters': '1' },
    });
    await stream.data();
    const comment = stream.frames.find((frame) => frame.comment)?.comment;
    assert.equal(JSON.parse(comment).tool_call_count, 0);
  });
});
