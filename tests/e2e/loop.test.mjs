// The tool loop: the gateway runs the tools, every round streams live, and the client sees one turn.
import assert from 'node:assert/strict';
import http from 'node:http';
import { before, describe, test } from 'node:test';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { createOpenAI } from '@ai-sdk/openai';
import { HumanMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, streamText } from 'ai';
import OpenAI from 'openai';
import {
  defer,
  eventually,
  file_scope,
  start_gateway,
  start_mock,
} from './harness.mjs';
import { fetch_text, open, post, SseReader } from './http.mjs';

const scope = file_scope();

const kScript = `
rule order_call
  when user contains "ORD-42"
  when turn 0
  text "Let me look that up..."
  call lookup_order {"id": "ORD-42"} id=tc1
  usage prompt=10 completion=5

rule order_answer
  when user contains "ORD-42"
  when last tool
  text "Your order " "has shipped!"
  usage prompt=20 completion=10

rule overlap_call
  when user contains "overlap"
  when turn 0
  call slow {"n": 1} id=a
  call slow {"n": 2} id=b
  pace 40ms
  cut words
  text "one two three four five six seven eight nine ten"

rule overlap_answer
  when user contains "overlap"
  when last tool
  text "done"

rule hang_call
  when user contains "hang"
  when turn 0
  text "wait"
  call hang {} id=h

rule endless
  when user contains "endless"
  when tools
  text "again "
  call lookup_order {"id": "ORD-7"}

rule mixed_call
  when user contains "mixed"
  when turn 0
  text "both "
  call lookup_order {"id": "ORD-42"} id=s1
  call ask_client {"q": "colour"} id=c1

rule mixed_answer
  when user contains "mixed"
  when tool contains "blue"
  text "all known"

rule approval_call
  when user contains "refund"
  when turn 0
  call refund {"id": "ORD-42"} id=r1

rule approval_denied
  when user contains "refund"
  when tool contains "denied"
  text "not refunded"

rule approval_answer
  when user contains "refund"
  when last tool
  text "refunded"

rule injected
  when user contains "And where"
  when system contains "brief"
  text "told"

rule slow_call
  when user contains "too slow"
  when turn 0
  call brief {} id=t1

rule slow_answer
  when user contains "too slow"
  when tool contains " ms"
  text "it was too slow"

rule bad_call
  when user contains "bad arguments"
  when turn 0
  call lookup_order {"order": 1} id=x1

rule bad_answer
  when user contains "bad arguments"
  when tool contains "arguments.id"
  text "I see"

rule fails
  when user contains "fails"
  status 400
`;

const kOrder = '{"status":"shipped","eta":"2026-02-20"}';
const kWhole = 'Let me look that up...\n\nYour order has shipped!';
const kUsage = { prompt_tokens: 30, completion_tokens: 15, total_tokens: 45 };

// The tools' server: what was asked of it, when, and what was hung up on.
async function start_tools() {
  const seen = [];
  const server = http.createServer((request, response) => {
    const call = { url: request.url, headers: request.headers, at: performance.now() };
    seen.push(call);
    response.on('close', () => (call.closed = true));
    if (request.url.startsWith('/hang')) return;
    const answer = () =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(request.url.startsWith('/orders') ? kOrder : '{}');
    if (request.url.startsWith('/slow')) setTimeout(answer, 200);
    else answer();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  defer(scope, () => {
    server.closeAllConnections();
    server.close();
  });
  return { seen, url: `http://127.0.0.1:${server.address().port}` };
}

// An upstream that only knows whole answers: a call, then the end of the order example.
async function start_wrapped() {
  const asked = [];
  const server = http.createServer(async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    asked.push(JSON.parse(text));
    const call = { name: 'lookup_order', arguments: '{"id": "ORD-42"}' };
    const message =
      asked.at(-1).messages.length === 1
        ? {
            role: 'assistant',
            content: 'Let me look that up...',
            tool_calls: [{ id: 'tc1', type: 'function', function: call }],
          }
        : { role: 'assistant', content: 'Your order has shipped!' };
    const finish_reason = message.tool_calls ? 'tool_calls' : 'stop';
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ id: 'w', choices: [{ index: 0, message, finish_reason }] }));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  defer(scope, () => {
    server.closeAllConnections();
    server.close();
  });
  return { asked, v1: `http://127.0.0.1:${server.address().port}/v1` };
}

let mock;
let tools;
let wrapped;
let gateway;
before(async () => {
  mock = await start_mock(scope, kScript);
  tools = await start_tools();
  wrapped = await start_wrapped();
  const http_tool = (name, url, more = {}) => ({
    name,
    kind: 'http',
    method: 'GET',
    url: tools.url + url,
    addresses: ['127.0.0.0/8'],
    description: name,
    ...more,
  });
  gateway = await start_gateway(scope, {
    upstream: [
      { name: 'main', url: mock.v1 },
      { name: 'wrapped', url: wrapped.v1, stream: false },
    ],
    model: [
      { name: 'wrapped', upstream: 'wrapped', loop: true },
      { name: 'm', upstream: 'main' },
      { name: 'looped', upstream: 'main', loop: true },
    ],
    tool: [
      http_tool('lookup_order', '/orders/{id}', {
        parameters: {
          type: 'object',
          properties: { id: { type: 'string' } },
          required: ['id'],
        },
      }),
      http_tool('slow', '/slow'),
      http_tool('hang', '/hang'),
      http_tool('brief', '/hang/brief', { timeout: '100ms' }),
      http_tool('refund', '/refund', { approval: true }),
      { name: 'count', kind: 'command', command: ['wc', '-c'] },
      { name: 'time', kind: 'builtin', builtin: 'time' },
    ],
  });
});

const chat = (more) => ({
  model: 'looped',
  messages: [{ role: 'user', content: 'Where is ORD-42?' }],
  ...more,
});
const say = (content, more) => chat({ messages: [{ role: 'user', content }], ...more });
const completions = () => `${gateway.v1}/chat/completions`;

// A stream, read: its frames and what they say.
async function stream(body, options = {}) {
  const answer = await post(completions(), { ...body, stream: true }, options);
  assert.equal(answer.status, 200, answer.text);
  const frames = new SseReader().push(answer.text).filter((frame) => frame.data);
  assert.equal(frames.at(-1).data, '[DONE]');
  const chunks = frames.slice(0, -1).map((frame) => JSON.parse(frame.data));
  const last = chunks.findLast((chunk) => chunk.choices?.[0]?.finish_reason);
  return {
    answer,
    chunks,
    text: chunks.map((chunk) => chunk.choices?.[0]?.delta.content ?? '').join(''),
    reason: last?.choices[0].finish_reason,
    end: last?.callgate,
  };
}

describe('the order example', () => {
  test('streams two rounds as one turn', async () => {
    const { chunks, text, reason, end } = await stream(
      chat({ stream_options: { include_usage: true } }),
    );
    assert.equal(text, kWhole);
    assert.equal(reason, 'stop');
    const { loop, ...told } = end;
    assert.match(loop, /^loop_/);
    assert.deepEqual(told, { end_reason: 'completed', rounds: 1, calls: 1 });
    assert.deepEqual(
      chunks.filter((chunk) => chunk.choices[0]?.delta.tool_calls),
      [],
    );
    const usage = chunks.at(-1).usage;
    for (const [name, count] of Object.entries(kUsage)) assert.equal(usage[name], count);
    const call = tools.seen.at(-1);
    assert.equal(call.url, '/orders/ORD-42');
    assert.match(call.headers['x-callgate-request-id'], /^req_/);
  });

  test('comes whole with the same result', async () => {
    const answer = await post(completions(), chat());
    const body = answer.json();
    assert.equal(body.choices[0].message.content, kWhole);
    assert.equal(body.choices[0].finish_reason, 'stop');
    assert.equal(body.callgate.end_reason, 'completed');
    assert.equal(body.usage.total_tokens, kUsage.total_tokens);
    assert.equal(answer.headers['x-callgate-loop'], body.callgate.loop);
  });

  test('is switched on by the body or by a header, and off', async () => {
    const by_body = await stream(chat({ model: 'm', callgate: { loop: true } }));
    assert.equal(by_body.text, kWhole);
    const by_header = await stream(chat({ model: 'm' }), { headers: { 'x-callgate-loop': '1' } });
    assert.equal(by_header.text, kWhole);
    const off = await stream(chat({ callgate: { loop: false } }));
    assert.equal(off.reason, 'tool_calls');
    const wrong = await post(completions(), chat({ callgate: { loop: true, tools: ['nope'] } }));
    assert.equal(wrong.status, 400);
    assert.match(wrong.json().error.message, /no tool "nope".*lookup_order/);
  });

  for (const [rounds, text, end] of [
    [0, 'Let me look that up...', 'max_rounds'],
    [1, kWhole, 'completed'],
    [10, kWhole, 'completed'],
  ]) {
    test(`with ${rounds} rounds`, async () => {
      const before_it = tools.seen.length;
      const body = chat({ callgate: { max_tool_rounds: rounds } });
      const got = await stream(body);
      assert.equal(got.text, text);
      assert.equal(got.end.end_reason, end);
      assert.equal(tools.seen.length - before_it, rounds === 0 ? 0 : 1);
      const whole = (await post(completions(), body)).json();
      assert.equal(whole.choices[0].message.content, text);
      assert.equal(whole.callgate.end_reason, end);
    });
  }
});

test('tools start while the model is still writing, whatever the client wants', async () => {
  for (const ask of [
    async () => (await stream(say('overlap'))).text,
    async () => (await post(completions(), say('overlap'))).json().choices[0].message.content,
  ]) {
    const from = tools.seen.length;
    const started = performance.now();
    assert.match(await ask(), /ten\n\ndone/);
    const calls = tools.seen.slice(from);
    assert.equal(calls.length, 2);
    // The text after the calls takes 400 ms, the tools 200 ms each.
    for (const call of calls) assert.ok(call.at - started < 300, `${call.at - started}`);
    assert.ok(Math.abs(calls[0].at - calls[1].at) < 150);
  }
});

test('an upstream that cannot stream is asked for whole turns', async () => {
  for (const streams of [true, false]) {
    wrapped.asked.length = 0;
    const text = streams
      ? (await stream(chat({ model: 'wrapped' }))).text
      : (await post(completions(), chat({ model: 'wrapped' }))).json().choices[0].message.content;
    assert.equal(text, kWhole);
    assert.deepEqual(
      wrapped.asked.map((body) => [body.stream ?? false, body.messages.length]),
      [[false, 1], [false, 3]],
    );
  }
});

test('shown calls and results are frames with an empty delta', async () => {
  const { chunks, text } = await stream(chat({ callgate: { show_tool_calls: true } }));
  assert.equal(text, kWhole);
  const shown = chunks.filter((chunk) => chunk.callgate?.type);
  assert.deepEqual(
    shown.map((chunk) => chunk.callgate.type),
    ['callgate.tool_call', 'callgate.tool_result'],
  );
  assert.equal(shown[0].callgate.name, 'lookup_order');
  assert.equal(shown[1].callgate.preview, kOrder);
  assert.deepEqual(shown[0].choices, [{ index: 0, delta: {}, finish_reason: null }]);
  const whole = (await post(completions(), chat({ callgate: { show_tool_calls: true } }))).json();
  assert.equal(whole.callgate.events.length, 2);
});

describe('SDKs', () => {
  for (const shown of [false, true]) {
    const callgate = { loop: true, show_tool_calls: shown };
    const mode = shown ? 'shown' : 'hidden';
    const question = 'Where is ORD-42?';
    const patch = (body) => ({ ...body, callgate });
    const fetch_with = (url, init) =>
      fetch(url, { ...init, body: JSON.stringify(patch(JSON.parse(init.body))) });

    test(`openai, ${mode}`, async () => {
      const client = new OpenAI({ apiKey: 'k', baseURL: gateway.v1, maxRetries: 0 });
      const body = chat({ model: 'm', callgate });
      const whole = await client.chat.completions.create(body);
      assert.equal(whole.choices[0].message.content, kWhole);
      const folded = await client.chat.completions.stream(body).finalChatCompletion();
      assert.equal(folded.choices[0].message.content, kWhole);
      let text = '';
      for await (const chunk of await client.chat.completions.create({ ...body, stream: true }))
        text += chunk.choices[0].delta.content ?? '';
      assert.equal(text, kWhole);
    });

    test(`ai, ${mode}`, async () => {
      const settings = { name: 'c', apiKey: 'k', baseURL: gateway.v1, fetch: fetch_with };
      for (const model of [
        createOpenAICompatible({ ...settings, includeUsage: true })('m'),
        createOpenAI(settings).chat('m'),
      ]) {
        const whole = await generateText({ model, prompt: question });
        assert.equal(whole.text, kWhole);
        const onError = ({ error }) => assert.fail(error);
        const streamed = streamText({ model, prompt: question, onError });
        assert.equal(await streamed.text, kWhole);
        assert.equal(await streamed.finishReason, 'stop');
      }
    });

    test(`LangChain, ${mode}`, async () => {
      const model = new ChatOpenAI({
        model: 'm',
        apiKey: 'k',
        configuration: { baseURL: gateway.v1 },
        modelKwargs: { callgate },
        maxRetries: 0,
      });
      const whole = await model.invoke([new HumanMessage(question)]);
      assert.equal(whole.content, kWhole);
      let text = '';
      for await (const piece of await model.stream([new HumanMessage(question)]))
        text += piece.content;
      assert.equal(text, kWhole);
    });
  }
});

describe('limits, errors and steering', () => {
  test('arguments that break the schema are told to the model', async () => {
    const { text, end } = await stream(say('bad arguments'));
    assert.equal(text, 'I see');
    assert.equal(end.calls, 1);
  });

  test('a tool that takes too long is stopped, and the model is told', async () => {
    const { text } = await stream(say('too slow'));
    assert.equal(text, 'it was too slow');
    await eventually('the end of the tool', () => tools.seen.at(-1).closed);
  });

  test('a model that never stops calling is stopped', async () => {
    const got = await post(completions(), say('endless', { callgate: { max_tool_rounds: 3 } }));
    assert.equal(got.json().callgate.end_reason, 'max_rounds');
  });

  test('an upstream that refuses is a plain error', async () => {
    for (const streamed of [true, false]) {
      const got = await post(completions(), say('fails', { stream: streamed }));
      assert.equal(got.status, 400);
      assert.ok(got.json().error.message);
    }
  });

  test('calls of client tools go to the client, and the loop goes on with its results', async () => {
    const ask_client = {
      type: 'function',
      function: { name: 'ask_client', parameters: { type: 'object' } },
    };
    const first = await stream(say('mixed', { tools: [ask_client] }));
    assert.equal(first.reason, 'tool_calls');
    assert.equal(first.end.end_reason, null);
    const from = tools.seen.length;
    const second = await stream(
      chat({
        tools: [ask_client],
        messages: [
          { role: 'user', content: 'mixed' },
          {
            role: 'assistant',
            content: first.text,
            tool_calls: [
              { id: 'c1', type: 'function', function: { name: 'ask_client', arguments: '{}' } },
            ],
          },
          { role: 'tool', tool_call_id: 'c1', content: 'blue' },
        ],
      }),
    );
    assert.equal(second.text, 'all known');
    assert.equal(tools.seen.length, from);
    assert.deepEqual([second.end.rounds, second.end.calls], [1, 1]);
  });

  const loops = async () => (await fetch_text(`${gateway.v1}/loops`)).json().data;
  const steer = (id, body) => post(`${gateway.v1}/loops/${id}`, body);

  test('a loop is listed, and cancelled from outside', async () => {
    const running = stream(say('hang'));
    const [found] = await eventually('the loop', async () => {
      const all = await loops();
      return all.some((loop) => loop.running.includes('hang')) && all;
    });
    const at = performance.now();
    assert.equal((await steer(found.id, { action: 'cancel' })).status, 202);
    const { end, text } = await running;
    assert.equal(text, 'wait');
    assert.equal(end.end_reason, 'cancelled');
    await eventually('the end of the tool', () => tools.seen.at(-1).closed);
    assert.ok(performance.now() - at < 500);
    assert.equal((await steer(found.id, { action: 'cancel' })).status, 404);
    assert.deepEqual(await loops(), []);
  });

  test('a message and a system prompt from outside reach the next turn', async () => {
    const running = stream(say('refund'));
    const { id, approvals } = await eventually('the approval', async () =>
      (await loops()).find((loop) => loop.approvals.length > 0),
    );
    assert.equal((await steer(id, { action: 'inject' })).status, 400);
    assert.equal((await steer(id, { action: 'inject', text: 'And where is it?' })).status, 202);
    await steer(id, { action: 'system_prompt', text: 'Be brief.' });
    await steer(id, { action: 'approve', run: approvals[0].run });
    assert.equal((await running).text, 'told');
  });

  test('a client that leaves stops the tools', async () => {
    const body = say('hang', { stream: true });
    const { request } = await open(completions(), { method: 'POST', body });
    const call = await eventually('the tool', () => {
      const last = tools.seen.at(-1);
      return last.url.startsWith('/hang') && !last.closed && last;
    });
    request.destroy();
    await eventually('the end of the tool', () => call.closed, 2000);
    await eventually('the end of the loop', async () => (await loops()).length === 0);
  });

  for (const [action, text] of [
    ['approve', 'refunded'],
    ['deny', 'not refunded'],
  ]) {
    test(`a person may ${action}`, async () => {
      const running = stream(say('refund'));
      const found = await eventually('the approval', async () =>
        (await loops()).find((loop) => loop.approvals.length > 0),
      );
      assert.equal((await steer(found.id, { action, run: 99 })).status, 404);
      const { run } = found.approvals[0];
      assert.equal((await steer(found.id, { action, run })).status, 202);
      assert.equal((await running).text, text);
    });
  }

  test('loops and runs are counted', async () => {
    const page = (await fetch_text(`${gateway.url}/metrics`)).text;
    assert.match(page, /callgate_loops_total\{model="looped",end="completed"\} \d/);
    assert.match(page, /callgate_tool_runs_total\{tool="lookup_order",outcome="ok"\} \d/);
    assert.match(page, /callgate_tool_runs_total\{tool="hang",outcome="cancelled"\} 2/);
    assert.match(page, /callgate_loops_active 0/);
  });
});
