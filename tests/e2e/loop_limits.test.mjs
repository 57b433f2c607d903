// Limits of the tool loop: time, calls, circles, long results, tries; that a cancelled loop lets go at once; many loops.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, test } from 'node:test';
import { eventually, file_scope, start_gateway } from './harness.mjs';
import { ask, ChatStream, fetch_text, post } from './http.mjs';
import { chunk, kEnd, kEventStream, kHead, say, start_upstream } from './upstream.mjs';

const scope = file_scope();
const soak = process.env.E2E_SOAK === '1';

const call = (name, args = '{}', index = 0, id = `c${index}`) =>
  chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: args } }] });
const calling = (...calls) =>
  kHead + calls.join('') + chunk({}, { finish_reason: 'tool_calls' }) + 'data: [DONE]\n\n';
const answer = (text) => kHead + say(text) + kEnd;
const open_call = kHead + call('echo', '{"n":');
const kLong = Array.from({ length: 2000 }, (_, i) => `line ${i} of many`).join('\n');

// By the user's word: what the model says, given the turns before, the last result, its tools and how often it was asked
// for this turn.
const kModels = {
  more: ({ turn, last }) =>
    /limit|at most/.test(last) ? answer('told') : calling(call('echo', `{"n":${turn}}`)),
  burst: ({ turn }) =>
    turn > 0 ? answer('told') : calling(...[0, 1, 2].map((n) => call('echo', `{"n":${n}}`, n))),
  circle: ({ choice }) => (choice === 'none' ? answer('enough') : calling(call('echo', '{"n": 1}'))),
  same: ({ turn }) => (turn === 3 ? answer('same') : calling(call('echo', `{"n":${turn}}`))),
  silent: ({ user }) => (/empty/.test(user) ? answer('sorry') : answer('')),
  mute: () => answer(''),
  long: () => kHead + say('and so o') + chunk({}, { finish_reason: 'length' }) + 'data: [DONE]\n\n',
  direct: () => calling(call('direct')),
  page: ({ turn, last }) =>
    turn === 0
      ? calling(call('long'))
      : turn === 1
        ? calling(call('read_result', /read_result (\{.*?\})/.exec(last)[1]))
        : answer(last.split('\n')[1]),
  search: ({ turn, tools }) =>
    turn === 0
      ? calling(call('find_tools', '{"query": "weather"}'))
      : answer(tools.map((tool) => tool.function.name).join(' ')),
  hang: () => calling(call('hang')),
  talk: () => null, // and then nothing
  both: () => null,
  approval: () => calling(call('refund')),
  flaky: ({ turn, tries }) => (turn === 0 ? calling(call('echo')) : tries < 2 ? 'close' : answer('ok')),
  begun: ({ turn, tries }) => (turn === 0 ? calling(call('echo')) : tries < 2 ? 'begin' : answer('ok')),
  torn: ({ turn }) => (turn === 0 ? calling(call('echo')) : 'tear'),
  crowd: ({ turn }) => (turn === 3 ? answer('all') : calling(call('gate', `{"n":${turn}}`))),
};

let upstream;
let tools;
const asked = []; // of the model, in order
const ran = []; // of the tools
let gate; // holds answers of the tools until all are there

const text_of = (content) => content ?? '';
before(async () => {
  const tries = new Map();
  upstream = await start_upstream(scope, (request, response) => {
    const body = JSON.parse(request.text);
    const word = body.messages.find((message) => message.role === 'user').content;
    const turn = body.messages.filter((message) => message.role === 'assistant').length;
    const key = `${body.model} ${word} ${turn}`;
    tries.set(key, (tries.get(key) ?? 0) + 1);
    const seen = { word, turn, body };
    asked.push(seen);
    response.on('close', () => (seen.closed = performance.now()));
    const bytes = kModels[word]({
      turn,
      tries: tries.get(key),
      last: text_of(body.messages.at(-1).content),
      user: text_of(body.messages.findLast((message) => message.role === 'user').content),
      tools: body.tools ?? [],
      choice: body.tool_choice,
    });
    if (bytes === 'close') return response.destroy();
    response.writeHead(200, kEventStream);
    if (word === 'talk') return response.write(kHead + say('talk'));
    if (word === 'both') return response.write(kHead + say('talk') + call('hang') + say('talk'));
    if (bytes === 'begin') return response.write(open_call, () => response.destroy());
    if (bytes === 'tear') return response.write(kHead + say('half'), () => response.destroy());
    return response.end(bytes);
  });
  tools = await start_upstream(scope, (request, response) => {
    const run = { path: new URL(request.url, 'http://t').pathname };
    ran.push(run);
    response.on('close', () => (run.closed = performance.now()));
    if (run.path === '/hang') return;
    const send = () => {
      response.setHeader('content-type', 'text/plain');
      response.end(run.path === '/long' ? kLong : 'same as ever');
    };
    return run.path === '/gate' ? gate(send) : send();
  });
});

const http_tool = (name, more = {}) => ({
  name,
  kind: 'http',
  method: 'GET',
  url: `${tools.url}/${name}`,
  addresses: ['127.0.0.0/8'],
  description: name,
  ...more,
});
const start = (t, loop = {}, { more_tools = [], tool = {}, env } = {}) =>
  start_gateway(
    t,
    {
      upstream: [{ name: 'main', url: upstream.v1 }],
      model: [{ name: 'm', upstream: 'main', loop: true, retry_backoff: '1ms' }],
      loop,
      tool: [
        http_tool('echo', tool),
        http_tool('hang'),
        http_tool('long'),
        http_tool('gate'),
        http_tool('direct', { return_direct: true }),
        http_tool('refund', { approval: true }),
        ...more_tools,
      ],
    },
    { env },
  );

// One loop, streamed: its text, how it ended, what was asked and run for it.
async function run(gateway, word) {
  const from = { asked: asked.length, ran: ran.length };
  const stream = await ChatStream.open(gateway.url, ask(word));
  const data = await stream.data();
  const frames = data.filter((line) => line !== '[DONE]').map((line) => JSON.parse(line));
  const last = frames.findLast((frame) => frame.choices?.[0]?.finish_reason);
  return {
    text: frames.map((frame) => frame.choices?.[0]?.delta.content ?? '').join(''),
    reason: last?.choices[0].finish_reason,
    end: last?.callgate.end_reason,
    error: frames.find((frame) => frame.error)?.error,
    asked: asked.slice(from.asked),
    ran: ran.slice(from.ran),
  };
}

describe('limits of calls', () => {
  for (const [name, word, loop, tool] of [
    ['max_calls', 'more', { max_calls: 2 }],
    ['max_calls_per_tool', 'more', { max_calls_per_tool: 2 }],
    ["a tool's own", 'more', {}, { max_calls: 2 }],
    ['calls_per_round', 'burst', { calls_per_round: 2 }],
  ]) {
    test(`${name} stops the loop, or is told to the model`, async (t) => {
      const stopped = await run(await start(t, loop, { tool }), word);
      assert.equal(stopped.end, 'max_calls');
      assert.equal(stopped.ran.length, 2);
      const telling = await start(t, { ...loop, on_limit: 'tell_model' }, { tool });
      const told = await run(telling, word);
      assert.deepEqual([told.text, told.end], ['told', 'completed']);
      assert.equal(told.ran.length, 2);
      assert.equal(told.asked.length, stopped.asked.length + 1);
      const result = told.asked.at(-1).body.messages.at(-1).content;
      assert.match(result, /^Error: not run: (the limit of 2|at most 2)/);
    });
  }
});

describe('time', () => {
  test('ends a loop at once, whatever runs', async (t) => {
    const gateway = await start(t, { loop_timeout: '150ms' });
    for (const word of ['hang', 'talk', 'both', 'approval']) {
      const at = performance.now();
      const got = await run(gateway, word);
      const took = performance.now() - at;
      assert.equal(got.end, 'timeout', word);
      assert.ok(took >= 140 && took < 1500, `${word}: ${took} ms`);
      for (const side of [got.asked, got.ran])
        for (const one of side) await eventually(`the end of ${word}`, () => one.closed);
    }
  });
});

describe('the model', () => {
  let gateway;
  before(async () => {
    const more_tools = Array.from({ length: 20 }, (_, i) =>
      http_tool(`tool_${i}`, { description: i === 7 ? 'tells the weather' : 'does something' }),
    );
    gateway = await start(scope, {}, { more_tools });
  });

  test('is told when it calls the same again, and then has to answer', async () => {
    const { text, end, ran: runs, asked: turns } = await run(gateway, 'circle');
    assert.deepEqual([text, end], ['enough', 'forced']);
    assert.equal(runs.length, 2);
    const results = turns.at(-1).body.messages.filter((message) => message.role === 'tool');
    assert.deepEqual(
      results.map((result) => /was not run/.test(result.content)),
      [false, false, true, true, true, true],
    );
    assert.equal(turns.at(-1).body.tool_choice, 'none');
    assert.ok(turns.at(-1).body.tools.length > 0);
  });

  test('is told that a result is an old one', async () => {
    const { asked: turns, ran: runs } = await run(gateway, 'same');
    assert.equal(runs.length, 3);
    const results = turns.at(-1).body.messages.filter((message) => message.role === 'tool');
    assert.deepEqual(
      results.map((result) => /exactly this result/.test(result.content)),
      [false, false, true],
    );
  });

  test('is asked once more for an empty answer', async () => {
    const { text, end, asked: turns } = await run(gateway, 'silent');
    assert.deepEqual([text, end, turns.length], ['sorry', 'completed', 2]);
    assert.deepEqual((await run(gateway, 'mute')).end, 'empty');
  });

  test('may run out of tokens', async () => {
    const { text, end, reason } = await run(gateway, 'long');
    assert.deepEqual([text, end, reason], ['and so o', 'truncated', 'length']);
  });

  test('is not asked about a result that is the answer', async () => {
    const { text, end, asked: turns } = await run(gateway, 'direct');
    assert.deepEqual([text, end, turns.length], ['same as ever', 'completed', 1]);
  });

  test('pages through a long result', async () => {
    const { text, asked: turns } = await run(gateway, 'page');
    const shown = turns[1].body.messages.at(-1).content;
    assert.ok(shown.length < 4000 && shown.includes('line 0 of') && shown.includes('line 1999 of'));
    assert.match(text, /^line \d+ of many$/);
    assert.ok(!shown.includes(text), 'it was in no preview');
  });

  test('finds one tool among many', async () => {
    const { text, asked: turns } = await run(gateway, 'search');
    const first = turns[0].body.tools.map((tool) => tool.function.name);
    assert.deepEqual(first, ['find_tools']);
    assert.match(text, /tool_7/);
  });

  test('is tried again while nothing of its turn was sent, and only then', async () => {
    for (const word of ['flaky', 'begun']) {
      const { text, end, asked: turns, ran: runs } = await run(gateway, word);
      assert.deepEqual([text, end, turns.length, runs.length], ['ok', 'completed', 3, 1], word);
    }
    const torn = await run(gateway, 'torn');
    assert.equal(torn.text, 'half');
    assert.ok(torn.error);
    assert.equal(torn.asked.length, 2);
  });
});

// From the command to the moment at which the other sides see that nobody listens.
describe('a cancelled loop lets go within 100 ms', () => {
  let gateway;
  before(async () => {
    gateway = await start(scope);
  });
  const loops = async () => (await fetch_text(`${gateway.v1}/loops`)).json().data;

  async function cancel(word, sides, is_ready) {
    await eventually('quiet', async () => (await loops()).length === 0);
    const from = { asked: asked.length, ran: ran.length };
    const running = run(gateway, word);
    let others;
    const { id } = await eventually('the loop', async () => {
      const found = (await loops()).find(is_ready);
      const all = [...asked.slice(from.asked), ...ran.slice(from.ran)];
      others = all.filter((one) => !one.closed);
      return all.length >= 1 && others.length === sides && found;
    });
    const at = performance.now();
    const told = post(`${gateway.v1}/loops/${id}`, { action: 'cancel' });
    const got = await running;
    const ended = performance.now();
    assert.equal((await told).status, 202);
    assert.equal(got.end, 'cancelled');
    await eventually('the end of the others', () => others.every((one) => one.closed));
    return Math.max(ended, ...others.map((one) => one.closed)) - at;
  }

  for (const [what, word, sides, is_ready] of [
    ['the model writes', 'talk', 1, () => true],
    ['a tool runs', 'hang', 1, (loop) => loop.running.includes('hang')],
    ['the model writes and a tool runs', 'both', 2, (loop) => loop.running.includes('hang')],
    ['a call waits for approval', 'approval', 0, (loop) => loop.approvals.length > 0],
  ]) {
    test(`while ${what}`, async (t) => {
      const times = [];
      // The machine may be busy: one of three tries shows what the gateway does.
      for (let i = 0; i < 3 && !(Math.min(...times) < 100); ++i) {
        times.push(await cancel(word, sides, is_ready));
      }
      t.diagnostic(`${times.map((time) => time.toFixed(1))} ms`);
      assert.ok(Math.min(...times) < 100, `${times} ms`);
    });
  }
});

// All loops are alive together: no tool answers before every loop has called it.
test('many loops of three rounds at once leave no memory behind', async (t) => {
  const kLoops = soak ? 1000 : 200;
  const kLots = soak ? 10 : 5;
  const gateway = await start(t, {}, { env: { ASAN_OPTIONS: 'quarantine_size_mb=1' } });
  const rss = () =>
    Number(readFileSync(`/proc/${gateway.pid}/status`, 'utf8').match(/VmRSS:\s+(\d+)/)[1]) / 1024;
  const held = [];
  gate = (send) => {
    held.push(send);
    if (held.length < kLoops) return;
    for (const each of held.splice(0)) each();
  };
  const sizes = [];
  const begin = performance.now();
  for (let lot = 0; lot < kLots; ++lot) {
    const all = await Promise.all(
      Array.from({ length: kLoops }, (_, i) =>
        post(`${gateway.v1}/chat/completions`, ask('crowd', { stream: i % 2 === 0 }), { ms: 120_000 }),
      ),
    );
    for (const { text } of all) assert.match(text, /"end_reason":"completed","rounds":3,"calls":3/);
    sizes.push(rss());
  }
  const took = performance.now() - begin;
  t.diagnostic(`${kLots} x ${kLoops} loops in ${(took / 1000).toFixed(1)} s; MiB: ${sizes.map(Math.round)}`);
  assert.ok(sizes.at(-1) < sizes[1] * 1.25 + 8, `MiB: ${sizes}`);
});
