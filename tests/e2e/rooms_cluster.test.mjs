// Rooms over three gateways on one PostgreSQL: subscribers on every node, owners that are killed, a database that restarts.
// Every subscriber notes the turns that ended, and all must end with the same ones: none lost, none told twice.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import WebSocket from 'ws';
import { free_port, Postgres } from './cluster.mjs';
import { defer, eventually, make_folder, one_upstream, sleep, start_gateway, start_mock } from './harness.mjs';
import { fetch_text } from './http.mjs';

const soak = process.env.E2E_SOAK === '1';
const number = (name, otherwise) => Number(process.env[name] ?? otherwise);
const kRooms = number('ROOMS', soak ? 50 : 4);
const kSubscribers = number('SUBSCRIBERS', soak ? 20 : 3);
const kSeconds = number('ROOMS_SECONDS', soak ? 120 : 0);
const kKillEvery = 10_000;
// What it costs: NODES=1 or 3 with CALM=1, nothing dies and the processor time of the gateways is told.
const kNodes = number('NODES', 3);
const kCalm = process.env.CALM === '1';

const kScript = `
rule slowly
  pace 20ms
  cut words
  text "one two three four five six seven eight nine ten"
`;

const kKeys = [{ name: 'dev', secret: 'sk-rooms-over-three-nodes', admin: true }];
const headers = { authorization: `Bearer ${kKeys[0].secret}` };

async function start_cluster(t, count = kNodes) {
  const mock = await start_mock(t, kScript);
  const postgres = await Postgres.start(t);
  const nodes = [];
  for (let i = 0; i < count; ++i) {
    const port = await free_port();
    const config = one_upstream(mock.v1, {
      listen: `127.0.0.1:${port}`,
      key: kKeys,
      rooms: { advertise: count === 1 ? 'off' : `http://127.0.0.1:${port}` },
      store: { url: postgres.url, journal: join(make_folder(t), 'callgate.journal') },
    });
    nodes.push({ port, config, gateway: await start_gateway(t, config) });
  }
  return { postgres, nodes };
}

// Milliseconds, of all gateways.
const processor_time = (nodes) =>
  nodes.reduce((sum, { gateway }) => {
    const fields = readFileSync(`/proc/${gateway.pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return sum + (Number(fields[11]) + Number(fields[12])) * 10;
  }, 0);

// Which node has most of the rooms.
function owner_of(postgres, nodes, room = '') {
  const rows = postgres.query(
    `SELECT n.address FROM lease l JOIN node n ON n.id = l.node WHERE l.name LIKE 'room:%/${room}%'
     GROUP BY n.address ORDER BY count(*) DESC`,
  );
  return rows.length === 0 ? undefined : nodes.find(({ port }) => rows[0][0].endsWith(`:${port}`));
}

// Stays in a room, on one node or another, whatever happens to them.
class Subscriber {
  #nodes;
  #at;
  #socket;
  #closed = false;
  last_seq = 0;
  snapshots = 0;
  frames = 0;
  ended = new Map(); // by stream: the text
  settled = new Set(); // ids of messages whose turn is over
  faults = [];
  #asked = new Map(); // by stream: the message
  #texts = new Map(); // by stream: what has come
  heard_at = 0;

  constructor(nodes, room, at) {
    this.#nodes = nodes;
    this.room = room;
    this.#at = at;
    this.#connect();
  }

  #connect() {
    if (this.#closed) return;
    const node = this.#nodes[this.#at % this.#nodes.length];
    const again = this.last_seq === 0 ? '' : `&last_seq=${this.last_seq}`;
    const socket = new WebSocket(`ws://127.0.0.1:${node.port}/v1/rooms/${this.room}?model=m${again}`, { headers });
    this.#socket = socket;
    let done = false;
    const leave = () => {
      if (done) return;
      done = true;
      this.#at += 1;
      setTimeout(() => this.#connect(), 100);
    };
    socket.on('message', (data) => this.#hear(JSON.parse(data)));
    socket.on('error', leave);
    socket.on('close', leave);
  }

  #hear(frame) {
    this.frames += 1;
    this.heard_at = Date.now();
    if (frame.type === 'error') {
      this.faults.push(`error: ${JSON.stringify(frame)}`);
      return;
    }
    if (frame.seq < this.last_seq || (frame.seq === this.last_seq && frame.type !== 'snapshot'))
      this.faults.push(`${frame.type} has ${frame.seq} after ${this.last_seq}`);
    this.last_seq = frame.seq;
    if (frame.type === 'snapshot') this.#start_anew(frame);
    if (frame.type === 'stream_start') this.#asked.set(frame.stream, frame.reply_to);
    if (frame.type === 'stream_chunk')
      this.#texts.set(frame.stream, (this.#texts.get(frame.stream) ?? '') + frame.delta);
    if (frame.type === 'stream_end') this.#end(frame.stream, frame.message.content);
    if (frame.type === 'stream_error') {
      const text = this.#texts.get(frame.stream) ?? '';
      if (frame.kept !== false && text !== '') this.ended.set(frame.stream, text);
      this.settled.add(frame.reply_to ?? this.#asked.get(frame.stream));
    }
  }

  // A room keeps its last messages only (rooms.max_messages): what is older than those of the snapshot was told before.
  #start_anew(frame) {
    this.snapshots += 1;
    const told = frame.messages.filter(({ role }) => role !== 'user');
    const known = [...this.ended.keys()];
    const from = told.length === 0 ? 0 : known.indexOf(told[0].id);
    const ids = new Set(told.map(({ id }) => id));
    const lost = from < 0 ? [] : known.slice(from).filter((stream) => !ids.has(stream));
    for (const stream of lost) this.faults.push(`${stream} was forgotten`);
    let asked;
    for (const { role, id, content } of frame.messages) {
      if (role === 'user') asked = id;
      else {
        this.ended.set(id, content);
        this.settled.add(asked);
      }
    }
    this.#texts.clear();
    if (frame.stream) {
      this.#texts.set(frame.stream.stream, frame.stream.text);
      this.#asked.set(frame.stream.stream, frame.stream.reply_to);
    }
  }

  #end(stream, text) {
    if (this.ended.has(stream)) this.faults.push(`${stream} ended twice`);
    this.ended.set(stream, text);
    this.settled.add(this.#asked.get(stream));
  }

  get open() {
    return this.#socket.readyState === WebSocket.OPEN;
  }
  say(id, text) {
    this.#socket.send(JSON.stringify({ type: 'user_message', id, text }));
  }
  close() {
    this.#closed = true;
    this.#socket.terminate();
  }
}

function fill_rooms(t, nodes) {
  const rooms = Array.from({ length: kRooms }, (_, room) =>
    Array.from({ length: kSubscribers }, (_, i) => new Subscriber(nodes, `room-${room}`, room + i)),
  );
  defer(t, () => rooms.flat().forEach((each) => each.close()));
  return rooms;
}

// Says something in a room and waits until the turn is over, one way or the other. What was lost on the way to a gateway that
// died, before the room had it, is said again under the same id.
async function ask(room, id) {
  let said = 0;
  const over = () => {
    if (room.some(({ settled }) => settled.has(id))) return true;
    if (Date.now() - said > 8_000) {
      const speaker = room.filter(({ open }) => open)[0];
      if (speaker) {
        said = Date.now();
        speaker.say(id, 'Count slowly.');
      }
    }
    return false;
  };
  for (const end = Date.now() + 60_000; !over(); await sleep(20)) {
    if (Date.now() > end) throw new Error(`${id} of ${room[0].room} has no end`);
  }
}

async function check_rooms(rooms) {
  for (const room of rooms) {
    const told = ({ ended }) => JSON.stringify([...ended].sort());
    const agree = () => room.every((each) => told(each) === told(room[0]));
    await eventually(`all of ${room[0].room} have the same text`, agree, 20_000).catch((error) => {
      throw new Error(`${error.message}\n${room.map(told).join('\n')}`);
    });
    for (const each of room) assert.deepEqual(each.faults, [], each.room);
  }
}

const all_there = (rooms) =>
  eventually('everybody is in', () => rooms.flat().every(({ last_seq, open }) => open && last_seq > 0), 30_000);

describe('rooms over three gateways on one PostgreSQL', () => {
  test('everybody hears the same, through the death of owners and a restart of the database', async (t) => {
    const { postgres, nodes } = await start_cluster(t);
    const rooms = fill_rooms(t, nodes);
    await all_there(rooms);
    let turns = 0;
    let running = true;
    const busy = rooms.map(async (room, r) => {
      for (let i = 0; running; ++i) {
        await ask(room, `m-${r}-${i}`);
        turns += 1;
      }
    });
    const replaced = [];
    const kill_owner = async () => {
      const node = owner_of(postgres, nodes);
      const gone = postgres.query(
        `SELECT l.name FROM lease l JOIN node n ON n.id = l.node WHERE l.name LIKE 'room:%' AND n.address LIKE '%:${node.port}'`,
      ).map(([name]) => name.slice(name.indexOf('/') + 1));
      await node.gateway.kill();
      const killed = Date.now();
      const waits = rooms.filter((room) => gone.includes(room[0].room));
      // The next owner has spoken when somebody hears something again.
      const heard = (room) => room.some(({ heard_at }) => heard_at > killed + 500);
      await eventually('the rooms have another owner', () => waits.every(heard), 20_000);
      replaced.push(Date.now() - killed);
      node.gateway = await start_gateway(t, node.config);
    };
    await sleep(500);
    if (kCalm) {
      await sleep(kSeconds * 1000);
    } else {
      await kill_owner();
      await postgres.stop();
      await postgres.start_again();
      await kill_owner();
      for (const end = Date.now() + kSeconds * 1000; Date.now() < end; ) {
        await sleep(kKillEvery);
        await kill_owner();
      }
    }
    running = false;
    await Promise.all(busy);
    await check_rooms(rooms);
    const list = JSON.parse((await fetch_text(`${nodes[0].gateway.v1}/rooms`, { headers })).text);
    assert.equal(list.data.length, kRooms);
    for (const room of list.data) assert.equal(room.subscribers, kSubscribers, JSON.stringify(room));
    // What gateways ask each other is nobody else's, whatever key they have.
    for (const asker of [{}, { headers }, { headers: { authorization: 'Bearer ' } }]) {
      for (const path of ['', '/room-0?key=dev']) {
        const { status } = await fetch_text(`${nodes[0].gateway.v1}/relay/rooms${path}`, asker);
        assert.equal(status, 403);
      }
    }
    const all = rooms.flat();
    const sum = (count) => all.reduce((total, each) => total + count(each), 0);
    console.log(
      `rooms: ${turns} turns, ${all.reduce((n, { ended }) => n + ended.size, 0) / kSubscribers} ended, ` +
        `${sum(({ frames }) => frames)} frames to ${all.length} subscribers, ${sum(({ snapshots }) => snapshots)} snapshots; ` +
        `new owners after ${replaced.join(', ')} ms`,
    );
    if (kCalm) console.log(`rooms: ${processor_time(nodes)} ms of processor time`);
    assert.ok(turns >= kRooms);
  });
});
