// Rooms over WebSocket: several connections follow one conversation, leave, come back, and speak.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { before, describe, test } from 'node:test';
import WebSocket from 'ws';
import { check_stream } from './chat_contract.mjs';
import {
  defer,
  eventually,
  file_scope,
  make_folder,
  sleep,
  start_gateway,
  start_mock,
  within,
} from './harness.mjs';
import { fetch_text, post, stream_chat } from './http.mjs';

const scope = file_scope();

const kScript = `
rule order_call
  when user contains "ORD-42"
  when last user
  text "Let me look that up..."
  call lookup_order {"id": "ORD-42"} id=tc1
  usage prompt=10 completion=5

rule order_answer
  when user contains "ORD-42"
  when last tool
  text "Your order " "has shipped!"
  usage prompt=20 completion=10

rule at_leisure
  when user contains "at leisure"
  pace 60ms
  cut words
  text "one two three four five six seven eight nine ten"

rule slowly
  when user contains "slowly"
  pace 10ms
  cut words
  text "one two three four five six seven eight nine ten"

rule think
  when user contains "think"
  cut words
  reasoning "First this, then that, and so on."
  text "Done thinking."

rule speak
  when user contains "speak"
  when last user
  pace 2ms
  cut 3
  text "Dr. Who paid 3.50. He left at once. Then"
  call lookup_order {"id": "ORD-1"}

rule spoken
  when user contains "speak"
  when last tool
  text "it was over. "
  text "Really"

rule hang
  when user contains "hang"
  when last user
  text "wait"
  call hang {}

rule refund
  when user contains "refund"
  when last user
  call refund {}

rule refund_answer
  when tool contains "denied"
  text "not refunded"

rule injected
  when user contains "And where"
  text "told"

rule refund_done
  when last tool
  text "refunded"

rule remember
  when user contains "again"
  when turn 1
  text "I remember."

rule fails
  when user contains "fails"
  status 400

rule any
  text "ok"
`;
const kFirst = 'Let me look that up...';
const kWhole = `${kFirst}\n\nYour order has shipped!`;

let gateway;
let seen;
before(async () => {
  const mock = await start_mock(scope, kScript);
  seen = [];
  const server = http.createServer((request, response) => {
    const call = { url: request.url };
    seen.push(call);
    response.on('close', () => (call.closed = true));
    if (request.url !== '/hang') response.end('{"status":"shipped"}');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  defer(scope, () => {
    server.closeAllConnections();
    server.close();
  });
  const tool = (name, url, more) => ({
    name,
    kind: 'http',
    method: 'GET',
    url: `http://127.0.0.1:${server.address().port}${url}`,
    addresses: ['127.0.0.0/8'],
    description: name,
    ...more,
  });
  gateway = await start_gateway(scope, {
    upstream: [{ name: 'main', url: mock.v1 }],
    model: [
      { name: 'm', upstream: 'main' },
      { name: 'other', upstream: 'main' },
    ],
    key: [
      { name: 'ann', secret: 'sk-ann-0123456789abcdef' },
      { name: 'bob', secret: 'sk-bob-0123456789abcdef', models: ['m'] },
      { name: 'slow', secret: 'sk-slow-0123456789abcdef', requests_per_minute: 1 },
    ],
    cors: { origins: ['https://app.example'] },
    rooms: {
      queue: 2,
      backlog: '64KiB',
      history_frames: 200,
      max_subscribers: 5,
      max_frame: '1MiB',
      max_message: '2MiB',
    },
    tool: [
      tool('lookup_order', '/orders/{id}', {
        parameters: { type: 'object', properties: { id: { type: 'string' } } },
      }),
      tool('hang', '/hang'),
      tool('refund', '/refund', { approval: true }),
    ],
  });
});

const kKey = 'sk-ann-0123456789abcdef';
let rooms = 0;
const new_room = () => `room-${++rooms}`;
const url_of = (room, query = 'model=m') =>
  `${gateway.url.replace('http', 'ws')}/v1/rooms/${room}${query ? `?${query}` : ''}`;

// A subscriber: the frames so far, and a way to wait for the next one of a type.
class Subscriber {
  frames = [];
  #waiting = [];

  static async join(room, { query, key = kKey, ...options } = {}) {
    const subscriber = new Subscriber();
    const headers = { authorization: `Bearer ${key}`, ...options.headers };
    subscriber.socket = new WebSocket(url_of(room, query), options.protocols ?? [], {
      perMessageDeflate: false,
      ...options,
      headers,
    });
    subscriber.socket.on('message', (data) => subscriber.#take(JSON.parse(data)));
    subscriber.closed = once(subscriber.socket, 'close').then(([code, reason]) => ({
      code,
      reason: String(reason),
    }));
    await within(5000, 'joining', once(subscriber.socket, 'open'));
    return subscriber;
  }
  #take(frame) {
    this.frames.push(frame);
    for (const check of this.#waiting.splice(0)) check();
  }
  // The first frame of that type from position `from` on.
  async next(type, from = 0) {
    const find = () => this.frames.slice(from).find((frame) => frame.type === type);
    const wait = async () => {
      while (!find()) await new Promise((resolve) => this.#waiting.push(resolve));
      return find();
    };
    return within(5000, type, wait());
  }
  // How many frames of a type there are, once there are `count`.
  async count(type, count) {
    const all = () => this.frames.filter((frame) => frame.type === type);
    const wait = async () => {
      while (all().length < count) await new Promise((resolve) => this.#waiting.push(resolve));
      return all();
    };
    return within(5000, `${count} times ${type}`, wait());
  }
  say(frame) {
    this.socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }
  ask(text, more) {
    this.say({ type: 'user_message', text, ...more });
  }
  get types() {
    return this.frames.map((frame) => frame.type);
  }
  get text() {
    return this.frames
      .filter((frame) => frame.type === 'stream_chunk')
      .map((frame) => frame.delta)
      .join('');
  }
  async leave() {
    this.socket.close(1000);
    return this.closed;
  }
}

const is_gapless = (frames) => {
  const numbers = frames.filter((f) => !['snapshot', 'error'].includes(f.type)).map((f) => f.seq);
  for (let i = 1; i < numbers.length; ++i) assert.equal(numbers[i], numbers[i - 1] + 1);
};

test('the order example is what it is over SSE and whole, for everybody', async () => {
  const room = new_room();
  const [ann, eve] = await Promise.all([Subscriber.join(room), Subscriber.join(room)]);
  ann.ask('Where is ORD-42?', { id: 'q1' });
  const end = await ann.next('stream_end');
  await eve.next('stream_end');
  assert.deepEqual(ann.frames.slice(1), eve.frames.slice(1));
  is_gapless(ann.frames);
  assert.deepEqual(
    ann.types.filter((type) => type !== 'stream_chunk'),
    [
      'snapshot',
      'user_message',
      'stream_start',
      'text_end',
      'tool_call_start',
      'tool_call_end',
      'text_end',
      'stream_end',
    ],
  );
  assert.equal(ann.text, kWhole);
  assert.deepEqual(end.message, { role: 'assistant', content: kWhole });
  assert.equal(end.usage.total_tokens, 45);
  const { finish_reason, end_reason, rounds: made, calls } = end;
  assert.deepEqual([finish_reason, end_reason, made, calls], ['stop', 'completed', 1, 1]);
  const start = await ann.next('stream_start');
  assert.equal(start.model, 'm');
  assert.equal(start.reply_to, 'q1');
  assert.match(start.loop, /^loop_/);
  assert.match(start.request, /^req_/);
  const call = await ann.next('tool_call_start');
  assert.deepEqual([call.id, call.name, call.round], ['tc1', 'lookup_order', 0]);
  assert.deepEqual(JSON.parse(call.arguments), { id: 'ORD-42' });
  const result = await ann.next('tool_call_end');
  assert.deepEqual([result.preview, result.is_error, result.bytes], ['{"status":"shipped"}', false, 20]);
  const whole = await post(
    `${gateway.v1}/chat/completions`,
    { model: 'm', messages: [{ role: 'user', content: 'Where is ORD-42?' }], callgate: { loop: true } },
    { headers: { authorization: `Bearer ${kKey}` } },
  );
  assert.equal(whole.json().choices[0].message.content, kWhole);
  // The conversation goes on with what was said.
  ann.ask('again');
  assert.equal((await ann.count('stream_end', 2))[1].message.content, 'I remember.');
  const metrics = (await fetch_text(`${gateway.url}/metrics`)).text;
  assert.match(metrics, /callgate_room_subscribers [2-9]/);
  assert.match(metrics, /callgate_room_frames_total \d\d/);
  await Promise.all([ann.leave(), eve.leave()]);
});

test('so many rounds give the same in a room, streamed and whole', async () => {
  for (const [max_tool_rounds, text, end_reason] of [
    [0, kFirst, 'max_rounds'],
    [1, kWhole, 'completed'],
    [10, kWhole, 'completed'],
  ]) {
    const callgate = { max_tool_rounds };
    const ann = await Subscriber.join(new_room());
    ann.ask('Where is ORD-42?', { callgate });
    const end = await ann.next('stream_end');
    assert.deepEqual([end.message.content, end.end_reason], [text, end_reason]);
    await ann.leave();
    const messages = [{ role: 'user', content: 'Where is ORD-42?' }];
    const headers = { authorization: `Bearer ${kKey}` };
    const body = { model: 'm', messages, callgate: { loop: true, ...callgate } };
    const whole = await post(`${gateway.v1}/chat/completions`, body, { headers });
    assert.equal(whole.json().choices[0].message.content, text);
    assert.equal(whole.json().callgate.end_reason, end_reason);
    const streamed = await stream_chat(gateway.url, { ...body, stream: true }, { headers });
    assert.equal(check_stream(streamed.data).text, text);
  }
});

test('a message may name a conversation, which outlives the room', async () => {
  for (const [memory, roles] of [
    ['outside', ['user', 'assistant']],
    ['inside', ['user', 'assistant', 'tool', 'assistant']],
  ]) {
    const callgate = { conversation: `lasting ${memory}`, memory };
    const ann = await Subscriber.join(new_room());
    ann.ask('Where is ORD-42?', { callgate });
    assert.equal((await ann.next('stream_end')).message.content, kWhole);
    await ann.leave();
    const headers = { authorization: `Bearer ${kKey}` };
    const url = `${gateway.v1}/conversations/${encodeURIComponent(callgate.conversation)}`;
    const kept = (await fetch_text(url, { headers })).json();
    assert.deepEqual(kept.messages.map(({ role }) => role), roles);
    const query = `model=m&conversation=${encodeURIComponent(callgate.conversation)}`;
    const other = await Subscriber.join(new_room(), { query });
    other.ask('What now?', { callgate: { memory } });
    await other.next('stream_end');
    const then = (await fetch_text(url, { headers })).json();
    assert.equal(then.messages.length, roles.length + 2);
    await other.leave();
  }
});

test('who comes late gets a snapshot, and the turn survives its asker', async () => {
  const room = new_room();
  const ann = await Subscriber.join(room);
  assert.deepEqual(
    [ann.frames.length ? ann.frames[0].stream : null, (await ann.next('snapshot')).messages],
    [null, []],
  );
  ann.ask('slowly', { id: 's1' });
  await ann.count('stream_chunk', 3);
  const late = await Subscriber.join(room);
  const snapshot = await late.next('snapshot');
  assert.equal(snapshot.room, room);
  assert.deepEqual(snapshot.messages, [{ role: 'user', id: 's1', content: 'slowly' }]);
  assert.match(snapshot.stream.text, /^one two three/);
  await ann.leave();
  const end = await late.next('stream_end');
  assert.equal(snapshot.stream.text + late.text, end.message.content);
  assert.equal(late.frames[1].seq, snapshot.seq + 1);
  is_gapless(late.frames);
  await late.leave();
  const after = await Subscriber.join(room);
  const whole = await after.next('snapshot');
  assert.equal(whole.stream, null);
  assert.deepEqual(
    whole.messages.map((message) => message.role),
    ['user', 'assistant'],
  );
  await after.leave();
});

test('who comes back gets what it missed, no more and no less', async () => {
  const room = new_room();
  const [witness, ann] = await Promise.all([Subscriber.join(room), Subscriber.join(room)]);
  ann.ask('slowly');
  await ann.count('stream_chunk', 2);
  ann.socket.terminate();
  await ann.closed;
  const had = ann.frames.filter((frame) => frame.type !== 'snapshot');
  await sleep(20);
  const again = await Subscriber.join(room, { query: `model=m&last_seq=${had.at(-1).seq}` });
  await Promise.all([again.next('stream_end'), witness.next('stream_end')]);
  assert.deepEqual([...had, ...again.frames], witness.frames.slice(1));
  // With everything seen there is nothing to say; with numbers of another time there is a snapshot.
  const last = witness.frames.at(-1).seq;
  const nothing = await Subscriber.join(room, { query: `model=m&last_seq=${last}` });
  const other = await Subscriber.join(room, { query: 'last_seq=5' });
  await other.next('snapshot');
  assert.deepEqual(nothing.frames, []);
  await Promise.all([nothing, other, again, witness].map((one) => one.leave()));
});

test('reasoning comes in larger pieces, before the text', async () => {
  const ann = await Subscriber.join(new_room());
  ann.ask('think');
  await ann.next('stream_end');
  const types = ann.types.filter((type) => type !== 'stream_chunk');
  assert.deepEqual(types.slice(3), [
    'thinking_start',
    'thinking_chunk',
    'thinking_end',
    'text_end',
    'stream_end',
  ]);
  assert.equal((await ann.next('thinking_chunk')).delta, 'First this, then that, and so on.');
  assert.equal(ann.text, 'Done thinking.');
  await ann.leave();
});

describe('sentences', () => {
  const kSentences = [
    ['Dr. Who paid 3.50. '],
    ['He left at once. '],
    ['Then'],
    ['\n\nit was over. '],
    ['Really'],
  ];
  const sentences_of = (frames) =>
    frames.filter((frame) => frame.type === 'stream_chunk').map((frame) => frame.sentences);

  test('come whole, also after a way back at any place', async () => {
    const room = new_room();
    const query = 'model=m&split=sentences';
    const ann = await Subscriber.join(room, { query });
    const plain = await Subscriber.join(room);
    ann.ask('speak');
    await Promise.all([ann.next('stream_end'), plain.next('stream_end')]);
    assert.deepEqual(sentences_of(ann.frames), kSentences);
    assert.ok(plain.frames.length > ann.frames.length);
    const numbers = ann.frames.slice(1).map((frame) => frame.seq);
    assert.deepEqual(numbers, [...new Set(numbers)].sort((a, b) => a - b));
    const types = ann.types;
    assert.ok(types.indexOf('tool_call_start') > types.lastIndexOf('stream_chunk', 6));
    for (const at of [1, 3, 5, 6, 8]) {
      const seq = ann.frames[at].seq;
      const again = await Subscriber.join(room, { query: `${query}&last_seq=${seq}` });
      await again.next('stream_end');
      assert.deepEqual(again.frames, ann.frames.slice(at + 1));
      await again.leave();
    }
    await Promise.all([ann.leave(), plain.leave()]);
  });

  test('begin in a snapshot', async () => {
    const room = new_room();
    const ann = await Subscriber.join(room);
    ann.ask('speak');
    await ann.count('stream_chunk', 9);
    const late = await Subscriber.join(room, { query: 'split=sentences' });
    const { stream } = await late.next('snapshot');
    await late.next('stream_end');
    assert.equal(stream.text + late.text, kSentences.flat().join(''));
    await Promise.all([ann.leave(), late.leave()]);
  });
});

describe('input', () => {
  test('cancel stops the turn and its tools at once', async () => {
    const ann = await Subscriber.join(new_room());
    ann.ask('hang');
    const { loop } = await ann.next('stream_start');
    await ann.next('tool_call_start');
    const listed = await fetch_text(`${gateway.v1}/loops`, {
      headers: { authorization: `Bearer ${kKey}` },
    });
    assert.ok(listed.json().data.some((one) => one.id === loop));
    const call = await eventually('the tool', () => seen.findLast((one) => one.url === '/hang'));
    const at = performance.now();
    ann.say({ type: 'cancel' });
    const end = await ann.next('stream_end');
    assert.ok(performance.now() - at < 100, `${performance.now() - at} ms`);
    assert.equal(end.end_reason, 'cancelled');
    await eventually('the end of the tool', () => call.closed);
    ann.say({ type: 'cancel' });
    assert.equal((await ann.next('error')).error.code, 'no_running_turn');
    await ann.leave();
  });

  test('messages wait for their turn, up to a limit, in order', async () => {
    const ann = await Subscriber.join(new_room());
    ann.ask('slowly', { id: 'a' });
    ann.ask('two', { id: 'b' });
    ann.ask('three', { id: 'c', model: 'other' });
    ann.ask('four', { id: 'd' });
    const error = await ann.next('error');
    assert.deepEqual([error.error.code, error.reply_to], ['room_queue_full', 'd']);
    const starts = (await ann.count('stream_end', 3)) && (await ann.count('stream_start', 3));
    assert.deepEqual(
      starts.map((start) => [start.reply_to, start.model]),
      [
        ['a', 'm'],
        ['b', 'm'],
        ['c', 'other'],
      ],
    );
    const said = ann.frames.filter((frame) => frame.type === 'user_message');
    assert.deepEqual(
      said.map((frame) => [frame.id, frame.text, frame.queued]),
      [
        ['a', 'slowly', 0],
        ['b', 'two', 1],
        ['c', 'three', 2],
      ],
    );
    await ann.leave();
  });

  test('inject, approve and deny reach the running turn', async () => {
    for (const [answer, text] of [
      ['approve', 'refunded'],
      ['deny', 'not refunded'],
      ['inject', 'told'],
    ]) {
      const ann = await Subscriber.join(new_room());
      ann.ask('refund');
      const wanted = await ann.next('approval_required');
      assert.equal(wanted.name, 'refund');
      if (answer === 'inject') ann.say({ type: 'inject', text: 'And where is it?' });
      ann.say({ type: answer === 'deny' ? 'deny' : 'approve', run: wanted.run });
      assert.equal((await ann.next('stream_end')).message.content, text);
      const said = ann.frames.filter((frame) => frame.type === 'user_message' && frame.injected);
      assert.equal(said.length, answer === 'inject' ? 1 : 0);
      await ann.leave();
    }
  });

  test('what is wrong is told to the one who said it, and nothing breaks', async () => {
    const room = new_room();
    const [ann, eve] = await Promise.all([Subscriber.join(room), Subscriber.join(room, { query: '' })]);
    for (const [frame, param, message] of [
      ['{', null, /not valid JSON/],
      ['[]', null, /not a JSON object/],
      [{}, 'type', /expected user_message/],
      [{ type: 'hello' }, 'type', /expected user_message/],
      [{ type: 'user_message' }, 'text', /text or content/],
      [{ type: 'user_message', text: '' }, 'text', /empty/],
      [{ type: 'user_message', text: 7 }, 'text', /a string/],
      [{ type: 'user_message', content: 7 }, 'content', /^content/],
      [{ type: 'user_message', text: 'x', id: '' }, 'id', /1 to 128/],
      [{ type: 'user_message', text: 'x', model: 'nope' }, 'model', /does not exist/],
      [{ type: 'user_message', text: 'x', messages: [] }, 'messages', /not here/],
      [{ type: 'user_message', text: 'x', tools: ['nope'] }, 'callgate.tools', /no tool "nope"/],
      [{ type: 'user_message', text: 'x', callgate: { loop: false } }, 'callgate.loop', /always/],
      [{ type: 'user_message', text: 'x', temperature: 9 }, 'temperature', /0 to 2/],
      [{ type: 'inject' }, 'text', /missing/],
      [{ type: 'approve' }, 'run', /missing/],
    ]) {
      const from = ann.frames.length;
      ann.say(frame);
      const { error } = await ann.next('error', from);
      assert.equal(error.param, param, JSON.stringify(frame));
      assert.match(error.message, message);
    }
    ann.socket.send(Buffer.from('{}'), { binary: true });
    await ann.count('error', 17);
    eve.ask('x');
    assert.equal((await eve.next('error')).error.param, 'model');
    assert.equal(eve.types.filter((type) => type === 'error').length, 1);
    ann.ask('fails');
    assert.ok((await eve.next('stream_error')).error.message);
    ann.say({ type: 'user_message', content: [{ type: 'text', text: 'x' }], tools: ['hang'] });
    assert.equal((await eve.next('stream_end')).message.content, 'ok');
    assert.deepEqual((await eve.count('user_message', 2))[1].content, [{ type: 'text', text: 'x' }]);
    await Promise.all([ann.leave(), eve.leave()]);
  });
});

describe('who may join', () => {
  // What an attempt to join is answered with.
  const status_of = async (room, options = {}) => {
    const socket = new WebSocket(url_of(room, options.query), options.protocols ?? [], options);
    const [, response] = await once(socket, 'unexpected-response');
    response.resume();
    return response.statusCode;
  };
  const auth = { authorization: `Bearer ${kKey}` };

  test('keys, origins and names', async () => {
    assert.equal(await status_of('a'), 401);
    assert.equal(await status_of('a', { protocols: ['callgate', 'callgate-key.wrong'] }), 401);
    assert.equal(await status_of('a', { headers: auth, origin: 'https://evil.example' }), 403);
    const bob = { authorization: 'Bearer sk-bob-0123456789abcdef' };
    assert.equal(await status_of('a', { headers: bob, query: 'model=other' }), 403);
    assert.equal(await status_of('a%20b', { headers: auth }), 400);
    assert.equal(await status_of('a'.repeat(129), { headers: auth }), 400);
    for (const query of ['split=words', 'last_seq=x', `token=${kKey}`, 'modle=m'])
      assert.equal(await status_of('a', { headers: auth, query }), 400, query);
    assert.equal(await status_of('a', { headers: auth, query: 'model=nope' }), 404);
    const plain = await fetch_text(`${gateway.v1}/rooms/a`, { headers: auth });
    assert.equal(plain.status, 426);
    assert.equal(plain.headers.upgrade, 'websocket');
    const allowed = await Subscriber.join(new_room(), { origin: 'https://app.example' });
    await allowed.leave();
  });

  test("Node's own WebSocket, with a key as a subprotocol", async () => {
    const socket = new globalThis.WebSocket(url_of(new_room()), ['callgate', `callgate-key.${kKey}`]);
    const frames = [];
    const ended = new Promise((resolve) => {
      socket.onmessage = ({ data }) => {
        frames.push(JSON.parse(data));
        if (frames.at(-1).type === 'snapshot')
          socket.send(JSON.stringify({ type: 'user_message', text: 'Where is ORD-42?' }));
        if (frames.at(-1).type === 'stream_end') resolve();
      };
    });
    await within(5000, 'the end', ended);
    assert.equal(socket.protocol, 'callgate');
    assert.equal(frames.at(-1).message.content, kWhole);
    const closed = new Promise((resolve) => (socket.onclose = resolve));
    socket.close(1000);
    assert.equal((await closed).code, 1000);
  });

  test('two keys never meet, and a room has a limit', async () => {
    const room = new_room();
    const ann = await Subscriber.join(room);
    const bob = await Subscriber.join(room, { key: 'sk-bob-0123456789abcdef' });
    ann.ask('hello');
    await ann.next('stream_end');
    bob.ask('hello', { model: 'other' });
    assert.equal((await bob.next('error')).error.param, 'model');
    assert.deepEqual(bob.types, ['snapshot', 'error']);
    const more = await Promise.all([1, 2, 3, 4].map(() => Subscriber.join(room)));
    assert.equal(await status_of(room, { headers: auth }), 429);
    await Promise.all([ann, bob, ...more].map((one) => one.leave()));
  });

  test('a key has its rate here, too', async () => {
    const ann = await Subscriber.join(new_room(), { key: 'sk-slow-0123456789abcdef' });
    ann.ask('one');
    ann.ask('two', { id: 'late' });
    const error = await ann.next('error');
    assert.deepEqual([error.error.code, error.reply_to], ['rate_limit_exceeded', 'late']);
    await ann.next('stream_end');
    await ann.leave();
  });
});

test('a slow subscriber is dropped, the others are not', async () => {
  const room = new_room();
  const [ann, slow] = await Promise.all([Subscriber.join(room), Subscriber.join(room)]);
  slow.socket._socket.pause();
  const big = 'x'.repeat(500_000);
  let sent = 0;
  const dropped = async () =>
    /callgate_room_subscribers_dropped_total [1-9]/.test((await fetch_text(`${gateway.url}/metrics`)).text);
  for (; sent < 60 && !(await dropped()); ++sent) {
    ann.ask(big);
    await ann.count('stream_end', sent + 1);
  }
  assert.ok(sent < 60, 'never dropped');
  slow.socket._socket.resume();
  const { code } = await within(5000, 'the end of the slow one', slow.closed);
  assert.ok([1013, 1006].includes(code), `${code}`);
  ann.ask('still there?');
  assert.equal((await ann.count('stream_end', sent + 1)).at(-1).message.content, 'ok');
  is_gapless(ann.frames);
  await ann.leave();
});

test('with and without deflate everybody hears the same', async () => {
  const room = new_room();
  const [plain, deflated] = await Promise.all([
    Subscriber.join(room),
    Subscriber.join(room, { perMessageDeflate: { threshold: 0 } }),
  ]);
  assert.match(deflated.socket.extensions, /permessage-deflate/);
  assert.equal(plain.socket.extensions, '');
  deflated.ask(`hello ${'again and '.repeat(200)}`);
  await Promise.all([plain.next('stream_end'), deflated.next('stream_end')]);
  assert.deepEqual(plain.frames.slice(1), deflated.frames.slice(1));
  await Promise.all([plain.leave(), deflated.leave()]);
});

test('a silent client is pinged, and dropped when it does not answer', async (t) => {
  const { url } = await start_gateway(t, {
    upstream: [{ name: 'main', wire: 'script' }],
    model: [{ name: 'm', upstream: 'main' }],
    rooms: { ping_interval: '30ms', pong_timeout: '500ms' },
  });
  const room = `${url.replace('http', 'ws')}/v1/rooms/a`;
  const alive = new WebSocket(room);
  const dead = new WebSocket(room, { autoPong: false });
  let pings = 0;
  alive.on('ping', () => ++pings);
  const [code] = await within(5000, 'the end of the silent one', once(dead, 'close'));
  assert.equal(code, 1006);
  await eventually('more pings', () => pings > 1);
  assert.equal(alive.readyState, WebSocket.OPEN);
  alive.close();
  await once(alive, 'close');
});

test('a turn is a row of the log; at the end of the gateway it may finish, then all are told', async (t) => {
  const mock = await start_mock(t, kScript);
  const own = await start_gateway(t, {
    upstream: [{ name: 'main', url: mock.v1 }],
    model: [{ name: 'm', upstream: 'main' }],
    store: { url: `sqlite:${make_folder(t)}/log.db`, content: true },
  });
  const socket = new WebSocket(`${own.url.replace('http', 'ws')}/v1/rooms/log?model=m`);
  const frames = [];
  socket.on('message', (data) => frames.push(JSON.parse(data)));
  const closed = once(socket, 'close');
  const of_type = (type) => frames.filter((frame) => frame.type === type);
  await once(socket, 'open');
  const ask = (text) => socket.send(JSON.stringify({ type: 'user_message', text }));
  ask('think');
  await eventually('the answer', () => of_type('stream_end').length === 1);
  const { request } = of_type('stream_start')[0];
  const row = await eventually('the row', async () => {
    const { data } = (await fetch_text(`${own.v1}/requests`)).json();
    return data.find((one) => one.id === request && one.state === 'completed');
  });
  assert.deepEqual([row.protocol, row.session, row.cut], ['room', 'room:log', 'loop_completed']);
  const whole = (await fetch_text(`${own.v1}/requests/${request}`)).text;
  assert.match(whole, /Done thinking\./);
  assert.match((await fetch_text(`${own.url}/metrics`)).text, /callgate_loops_total.*completed"} 1/);
  const before_it = of_type('stream_chunk').length;
  ask('at leisure');
  await eventually('the beginning', () => of_type('stream_chunk').length > before_it);
  process.kill(own.pid, 'SIGTERM');
  await eventually('draining', async () => (await fetch_text(`${own.url}/readyz`)).status === 503);
  ask('too late');
  const [code] = await within(5000, 'goodbye', closed);
  assert.equal(code, 1001);
  assert.match(of_type('stream_end')[1].message.content, /^one .* ten$/);
  assert.equal(of_type('error').length, 1);
});

// The wire, byte by byte.
describe('strictness', () => {
  const frame = (first, payload, { mask = true, length } = {}) => {
    const bytes = Buffer.from(payload);
    const size = length ?? bytes.length;
    const head =
      size < 126
        ? [first, (mask ? 0x80 : 0) | size]
        : [first, (mask ? 0x80 : 0) | 126, size >> 8, size & 0xff];
    return Buffer.concat([Buffer.from(head), Buffer.alloc(mask ? 4 : 0), bytes]);
  };
  const text = (payload) => frame(0x81, payload);
  const close = (code, reason = '') =>
    frame(0x88, Buffer.concat([Buffer.from([code >> 8, code & 0xff]), Buffer.from(reason)]));

  // Frames that the gateway sends: [opcode, payload].
  function* read_frames(bytes) {
    for (let at = 0; at + 2 <= bytes.length; ) {
      let size = bytes[at + 1];
      let head = 2;
      if (size === 126) [size, head] = [bytes.readUInt16BE(at + 2), 4];
      if (size === 127) [size, head] = [Number(bytes.readBigUInt64BE(at + 2)), 10];
      yield [bytes[at] & 15, bytes.subarray(at + head, at + head + size)];
      at += head + size;
    }
  }
  // Joins by hand, sends the bytes, waits where there is a string for that answer, and reads until the gateway closes.
  async function talk(...pieces) {
    const socket = net.connect(new URL(gateway.url).port, '127.0.0.1');
    socket.write(
      `GET /v1/rooms/${new_room()}?model=m HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n` +
        `Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nAuthorization: Bearer ${kKey}\r\n` +
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    );
    const parts = [];
    socket.on('data', (part) => parts.push(part));
    const over = once(socket, 'close');
    for (const piece of pieces) {
      if (typeof piece !== 'string') socket.write(piece);
      else await eventually(piece, () => parts.some((part) => part.includes(piece)));
    }
    await within(5000, 'the end', over);
    const all = Buffer.concat(parts);
    const frames = [...read_frames(all.subarray(all.indexOf('\r\n\r\n') + 4))];
    const last = frames.at(-1);
    const code = last[0] === 8 && last[1].length >= 2 ? last[1].readUInt16BE(0) : undefined;
    return { frames, code, closed: last[0] === 8 };
  }

  for (const [what, pieces, code] of [
    ['an unmasked frame', [frame(0x81, '{}', { mask: false })], 1002],
    ['a reserved bit', [frame(0xc1, '{}')], 1002],
    ['a reserved data opcode', [frame(0x83, '{}')], 1002],
    ['a reserved control opcode', [frame(0x8b, '')], 1002],
    ['a ping in pieces', [frame(0x09, 'a')], 1002],
    ['a ping of 126 bytes', [frame(0x89, 'a'.repeat(126))], 1002],
    ['a continuation of nothing', [frame(0x80, 'a')], 1002],
    ['a message within a message', [frame(0x01, 'a'), text('b')], 1002],
    ['text that is no UTF-8', [text(Buffer.from([0xc3, 0x28]))], 1007],
    [
      'text that is no UTF-8 over two frames',
      [frame(0x01, Buffer.from([0xe2, 0x82])), frame(0x80, Buffer.from([0x41]))],
      1007,
    ],
    ['text that ends inside a character', [text(Buffer.from([0xe2, 0x82]))], 1007],
    ['a close frame of one byte', [frame(0x88, 'a')], 1002],
    ...[0, 999, 1004, 1005, 1006, 1015, 2999].map((bad) => [`close code ${bad}`, [close(bad)], 1002]),
    ['a close reason that is no UTF-8', [close(1000, Buffer.from([0xff]))], 1007],
    ['close code 3000', [close(3000)], 3000],
    ['a close frame', [close(1000, 'bye')], 1000],
    ['an empty close frame', [frame(0x88, '')], undefined],
  ]) {
    test(what, async () => {
      const got = await talk(...pieces);
      assert.ok(got.closed);
      assert.equal(got.code, code);
    });
  }

  test('a frame that is too big', async () => {
    const head = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 0x20, 0, 1, 0, 0, 0, 0]);
    assert.equal((await talk(head)).code, 1009);
  });

  test('a message that is too big', async () => {
    const part = (first) => {
      const head = Buffer.from([first, 0xff, 0, 0, 0, 0, 0, 0x0f, 0, 0, 0, 0, 0, 0]);
      return Buffer.concat([head, Buffer.alloc(0x0f0000, 97)]);
    };
    assert.equal((await talk(part(0x01), part(0x00), part(0x00))).code, 1009);
  });

  test('64 KiB in frames of one byte, pings between them', async () => {
    const message = JSON.stringify({ type: 'hello', text: 'x'.repeat(65_500) });
    const parts = [...message].map((byte, i) =>
      frame(i === 0 ? 0x01 : i === message.length - 1 ? 0x80 : 0x00, byte),
    );
    parts.splice(1000, 0, frame(0x89, 'here'), frame(0x8a, 'unasked'));
    const { frames, code } = await talk(Buffer.concat(parts), '"error"', close(1000));
    assert.equal(code, 1000);
    assert.ok(frames.some(([opcode, payload]) => opcode === 10 && String(payload) === 'here'));
    const error = frames.find(([, payload]) => String(payload).includes('"error"'));
    assert.match(String(error[1]), /expected user_message/);
  });

  test('a flood of pings is answered', async () => {
    const flood = Buffer.concat(Array.from({ length: 5000 }, () => frame(0x89, 'p')));
    const { frames, code } = await talk(flood, close(1000));
    assert.equal(code, 1000);
    assert.equal(frames.filter(([opcode]) => opcode === 10).length, 5000);
  });
});
