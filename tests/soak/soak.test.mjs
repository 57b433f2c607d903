// Hours of mixed work on three gateways that share one PostgreSQL, behind nginx, while things go wrong; run_soak.sh sets the
// parameters. Clients note every answer that they got, and at the end the books are compared:
//
// - no conversation of the upstream forks or lacks a turn (chats.mjs), through the death of any node;
// - every answer that a client got whole is in the log, once, and has ended;
// - every stream keeps the contract, finishes once, and folds to what the whole answer says;
// - a stream breaks off only when a node or an upstream died, or was told to end, at that time;
// - memory and descriptors of a node that lives throughout stay flat.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import WebSocket from 'ws';
import { check_stream, check_whole } from './chat_contract.mjs';
import { check_requests, Client, hold_conversation, kChatScript, Random, read_chats } from './chats.mjs';
import { Cable, free_port, Postgres, start_nginx } from './cluster.mjs';
import { defer, eventually, make_folder, Program, sleep, start_gateway, start_mock, within } from './harness.mjs';
import { ChatStream, fetch_text, post } from './http.mjs';

const number = (name, otherwise) => Number(process.env[name] ?? otherwise);
const kSeconds = number('SOAK_SECONDS', 300);
const kIdle = number('SOAK_IDLE', 1000);
const kStreams = number('SOAK_STREAMS', 100);
const kWorkers = number('SOAK_WORKERS', 4);
const kSeed = number('SEED', 1);
const kGrace = 3000; // around the death of something, in which an answer may break off

const kScript = `
rule loop_call
  when user contains "LOOP"
  when last user
  text "Looking. "
  call note {"text": "tea"}
rule loop_answer
  when user contains "LOOP"
  when last tool
  text "Noted it."
rule calls
  when user contains "CALLS"
  text "Two calls."
  call find {"q": "tea & more"}
  call add {"a": 19, "b": 23}
rule slow
  when user contains "SLOW"
  cut words
  pace 100ms
  text "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
rule rest
  cut 7
  text "An answer that says the same each time, with ümlauts and 🌤."
`;

const kWires = [
  ['openai_chat', '/v1'],
  ['anthropic_messages', '/v1'],
  ['openai_responses', '/v1'],
  ['ollama', ''],
  ['gemini', '/v1beta'],
];
const kTools = ['find', 'add'].map((name) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: {} } },
}));

// What was done to the cluster, and when: {what, from, to}.
const troubles = [];
const is_excused = (from, to = Date.now()) =>
  troubles.some((each) => each.breaks && each.from - kGrace < to && from < (each.to ?? Infinity) + kGrace);

class Upstream {
  static async start(t) {
    const self = new Upstream();
    self.t = t;
    self.file = join(make_folder(t), 'model.script');
    writeFileSync(self.file, kScript);
    self.port = await free_port();
    await self.start_again();
    return self;
  }
  async start_again() {
    this.program = await new Program(this.t, ['mock', '--script', this.file, '--listen', `127.0.0.1:${this.port}`]).ready();
  }
  get url() {
    return `http://127.0.0.1:${this.port}`;
  }
}

async function start_world(t) {
  const chats = await start_mock(t, kChatScript);
  const upstream = await Upstream.start(t);
  const postgres = await Postgres.start(t);
  const nodes = [];
  for (let i = 0; i < 3; ++i) {
    const cable = await Cable.lay(t, postgres.port);
    const config = {
      listen: `127.0.0.1:${await free_port()}`,
      store: {
        url: postgres.url.replace(`:${postgres.port}/`, `:${cable.port}/`),
        journal: join(make_folder(t), 'callgate.journal'),
      },
      limits: { max_streams: 20_000, max_connections: 40_000 },
      log: { level: 'error' },
      upstream: [
        { name: 'qwen', wire: 'qwen_web', url: `${chats.url}/api/v2` },
        ...kWires.map(([wire, path]) => ({ name: wire, wire, url: upstream.url + path })),
      ],
      model: [
        { name: 'm', upstream: 'qwen', dialect: 'generic_xml', retries: 0 },
        ...kWires.map(([wire]) => ({ name: wire, upstream: wire })),
        { name: 'first_call', upstream: 'openai_chat', stop_after_tools: 'first' },
      ],
      tool: [{ name: 'note', kind: 'command', command: ['cat'], description: 'Notes a text.' }],
    };
    nodes.push({ cable, config, gateway: await start_gateway(t, config) });
  }
  const ports = nodes.map(({ config }) => Number(config.listen.split(':')[1]));
  return { chats, upstream, postgres, nodes, ports, url: await start_nginx(t, ports) };
}

class Books {
  answers = []; // {id, at}: what a client got whole
  latencies = []; // [second since the start, ms]
  counts = {};
  faults = [];
  started = Date.now();
  count(what) {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }
  fault(what) {
    this.count('FAULTS');
    if (this.faults.length < 20) this.faults.push(what);
  }
}

// Runs `work`; what goes wrong is a fault unless something died at that time.
async function attempt(books, what, work) {
  const from = Date.now();
  try {
    await work();
    books.count(what);
  } catch (error) {
    if (is_excused(from)) {
      books.count(`${what} (cut off by trouble)`);
      await sleep(100);
    } else {
      books.fault(`${what} at ${new Date(from).toISOString()}: ${error.message}`);
      await sleep(200);
    }
  }
}

const fold = ({ text, calls }) => JSON.stringify([text ?? '', (calls ?? []).map((call) => [call.name, JSON.parse(call.arguments)])]);
const whole_fold = (message) =>
  fold({ text: message.content ?? '', calls: (message.tool_calls ?? []).map((call) => call.function) });

function stream_fold(data) {
  let text = '';
  const calls = [];
  for (const each of data.slice(0, -1)) {
    const delta = JSON.parse(each).choices[0]?.delta ?? {};
    text += delta.content ?? '';
    for (const call of delta.tool_calls ?? []) {
      calls[call.index] ??= { name: '', arguments: '' };
      calls[call.index].name ||= call.function.name ?? '';
      calls[call.index].arguments += call.function.arguments ?? '';
    }
  }
  return fold({ text, calls });
}

// Wire formats and policies: the stream folds to the whole answer.
async function ask_wires(url, books, random) {
  const model = random.pick([...kWires.map(([wire]) => wire), 'first_call']);
  const body = { model, messages: [{ role: 'user', content: random.pick(['hello', 'CALLS', 'hello again']) }], tools: kTools };
  await attempt(books, model, async () => {
    const from = performance.now();
    const whole = await post(`${url}/v1/chat/completions`, body);
    assert.equal(whole.status, 200, whole.text);
    books.latencies.push([(Date.now() - books.started) / 1000, performance.now() - from]);
    const message = check_whole(whole.json()).choices[0].message;
    books.answers.push({ id: whole.headers['x-request-id'], at: Date.now() });
    const stream = await ChatStream.open(url, body);
    assert.equal(stream.status, 200);
    const data = await stream.data();
    check_stream(data);
    assert.equal(stream_fold(data), whole_fold(message), 'the stream folds to the whole answer');
    books.answers.push({ id: stream.headers['x-request-id'], at: Date.now() });
  });
}

async function ask_loop(url, books) {
  await attempt(books, 'loop', async () => {
    const body = { model: 'openai_chat', messages: [{ role: 'user', content: 'LOOP' }], callgate: { loop: true } };
    const answer = await post(`${url}/v1/chat/completions`, body);
    assert.equal(answer.status, 200, answer.text);
    const { message, finish_reason } = answer.json().choices[0];
    assert.equal(finish_reason, 'stop');
    assert.match(message.content, /Noted it\.$/);
    books.answers.push({ id: answer.headers['x-request-id'], at: Date.now() });
  });
}

// Leaves in the middle, or reads slowly.
async function ask_rudely(url, books, random) {
  await attempt(books, 'left or slow', async () => {
    const stream = await ChatStream.open(url, { model: 'openai_chat', messages: [{ role: 'user', content: 'SLOW' }] });
    assert.equal(stream.status, 200);
    if (random.below(2) === 0) {
      await sleep(random.below(500));
      return stream.leave();
    }
    stream.response.pause();
    await sleep(1000 + random.below(2000));
    check_stream(await stream.data());
  });
}

async function talk_in_room(port, books, random) {
  await attempt(books, 'room', async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/rooms/soak-${random.below(5)}-${process.pid}?model=openai_chat`);
    const ends = new Map();
    try {
      const done = new Promise((resolve, reject) => {
        socket.on('error', reject);
        socket.on('close', () => reject(new Error('the room closed')));
        socket.on('message', (bytes) => {
          const frame = JSON.parse(bytes);
          if (frame.type === 'stream_error' || frame.type === 'error') reject(new Error(JSON.stringify(frame.error)));
          if (frame.type !== 'stream_end') return;
          ends.set(frame.stream, (ends.get(frame.stream) ?? 0) + 1);
          resolve();
        });
      });
      done.catch(() => {});
      await within(10_000, 'joining', new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject)));
      socket.send(JSON.stringify({ type: 'user_message', text: 'hello' }));
      await within(30_000, 'the end of a turn', done);
      for (const count of ends.values()) assert.equal(count, 1, 'a turn ends once');
    } finally {
      socket.terminate();
    }
  });
}

// Connections that say nothing. They are made again when their node was.
function hold_idle(t, ports) {
  const sockets = new Set();
  let stopped = false;
  const open = (port) => {
    if (stopped) return;
    const socket = net.connect(port, '127.0.0.1');
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      setTimeout(() => open(port), 500 + Math.random() * 500).unref();
    });
  };
  for (let i = 0; i < kIdle; ++i) setTimeout(() => open(ports[i % ports.length]), i % 3000).unref();
  const stop = () => {
    stopped = true;
    for (const socket of sockets) socket.destroy();
  };
  defer(t, stop);
  return { sockets, stop };
}

// One of the things that go wrong. The first node is only ever reloaded, so that its memory can be watched.
async function cause_trouble(t, world, random, books) {
  const node = world.nodes[1 + random.below(2)];
  const kinds = {
    async kill() {
      await node.gateway.kill();
      await sleep(200);
      node.gateway = await start_gateway(t, node.config);
    },
    async drain() {
      node.gateway.signal('SIGTERM');
      const end = await node.gateway.exited(60_000);
      assert.equal(end.code, 0, 'a drain ends well');
      node.gateway = await start_gateway(t, node.config);
    },
    async reload() {
      for (const each of world.nodes) each.gateway.signal('SIGHUP');
    },
    async database_restart() {
      await world.postgres.stop();
      await sleep(300);
      await world.postgres.start_again();
    },
    async database_stall() {
      const lonely = random.pick(world.nodes);
      lonely.cable.cut();
      await sleep(2000);
      lonely.cable.mend();
    },
    async upstream() {
      await world.upstream.program.kill();
      await sleep(200);
      await world.upstream.start_again();
    },
  };
  const what = random.pick(Object.keys(kinds));
  const trouble = { what, from: Date.now(), breaks: ['kill', 'drain', 'upstream', 'database_stall', 'database_restart'].includes(what) };
  troubles.push(trouble);
  await kinds[what]();
  trouble.to = Date.now();
  books.count(`trouble: ${what}`);
}

const resident = (pid) => Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) / 256; // MB
async function descriptors(gateway) {
  const { text } = await fetch_text(`${gateway.url}/metrics`);
  return Number(/^process_open_fds (\d+)/m.exec(text)[1]);
}
const quantile = (list, q) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * q))];

async function check_log(postgres, books, client) {
  const deaths = troubles.filter(({ what }) => what === 'kill').map(({ from }) => from);
  const near_death = (at) => deaths.some((death) => death - 1500 < at && at < death + 1500);
  const chats = client.requests.filter(({ seen, ended }) => seen && ended).map(({ id, ended }) => ({ id, at: ended }));
  const wanted = [...books.answers, ...chats].filter(({ at }) => !near_death(at));
  let counts = new Map();
  let missing = wanted;
  await eventually('every answer is in the log', () => {
    const rows = postgres.query("SELECT id, count(*) FROM request WHERE state <> 'running' GROUP BY id");
    counts = new Map(rows);
    missing = wanted.filter(({ id }) => !counts.has(id));
    return missing.length === 0;
  }, 60_000).catch((error) => {
    throw new Error(`${error.message}: ${missing.length} of ${wanted.length} are missing, such as ${missing[0]?.id}`);
  });
  for (const { id } of wanted) assert.equal(counts.get(id), '1', `${id} is in the log once`);
  return wanted.length;
}

test(`mixed work for ${kSeconds} s`, async (t) => {
  const world = await start_world(t);
  const books = new Books();
  const client = new Client(world.url, { tries: 200 });
  const idle = hold_idle(t, world.ports);
  const end = Date.now() + kSeconds * 1000;
  const run = async (work, seed) => {
    const random = new Random(kSeed * 1000 + seed);
    while (Date.now() < end) await work(random);
  };
  const jobs = [];
  for (let i = 0; i < kWorkers; ++i) {
    jobs.push(run((random) => hold_conversation(client, random), i));
    jobs.push(run((random) => ask_wires(world.url, books, random), 100 + i));
    jobs.push(run(() => ask_loop(world.url, books), 200 + i));
    jobs.push(run((random) => talk_in_room(random.pick(world.ports), books, random), 300 + i));
  }
  for (let i = 0; i < kStreams; ++i) jobs.push(run((random) => ask_rudely(world.url, books, random), 1000 + i));
  const samples = [];
  jobs.push(
    run(async () => {
      samples.push({ memory: resident(world.nodes[0].gateway.pid), files: await descriptors(world.nodes[0].gateway).catch(() => 0) });
      await sleep(Math.min(2000, kSeconds * 20));
    }, 5000),
  );
  const chaos = run(async (random) => {
    await sleep(Math.min(4000, kSeconds * 50) + random.below(3000));
    if (Date.now() < end - kGrace) await cause_trouble(t, world, random, books);
  }, 6000);
  await Promise.all([...jobs, chaos]);
  client.close();
  idle.stop();
  for (const { gateway } of world.nodes)
    await eventually('every node is ready', async () => (await fetch_text(`${gateway.url}/readyz`)).status === 200, 30_000);

  t.diagnostic(`work: ${JSON.stringify(books.counts)}`);
  check_requests(client, await read_chats(world.chats), { may_retell: true });
  const logged = await check_log(world.postgres, books, client);
  const late = samples.slice(Math.floor(samples.length * 0.75)).map(({ memory }) => memory);
  const early = samples.slice(Math.floor(samples.length * 0.25), Math.floor(samples.length * 0.5)).map(({ memory }) => memory);
  const files_after = await eventually('descriptors come back', async () => {
    const files = await descriptors(world.nodes[0].gateway);
    return files < 150 && files;
  }, 30_000);
  const times = books.latencies.map(([, ms]) => ms);
  const half = (first) => books.latencies.filter(([at]) => at < kSeconds / 2 === first).map(([, ms]) => ms);
  t.diagnostic(`conversations: ${client.requests.length} requests; ${logged} answers found in the log, each once`);
  t.diagnostic(`whole answers: p50 ${quantile(times, 0.5).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms; p99 of the halves ${quantile(half(true), 0.99).toFixed(1)} and ${quantile(half(false), 0.99).toFixed(1)} ms`);
  t.diagnostic(`memory of the node that lived: ${quantile(early, 0.5).toFixed(1)} MB early, ${quantile(late, 0.5).toFixed(1)} MB late, ${Math.max(...samples.map(({ memory }) => memory)).toFixed(1)} at most`);
  t.diagnostic(`descriptors: ${Math.max(...samples.map(({ files }) => files))} at most, ${files_after} after`);
  assert.deepEqual(books.faults, []);
  assert.ok(quantile(late, 0.5) < quantile(early, 0.5) * 1.25 + 16, 'memory stays flat');
});
