// What is made of a request is bounded as the request is: items that are referred to, responses that are gone on from, answers in the
// background, messages of WebSockets, and copies for routes that run no turn.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { eventually, make_folder, one_upstream, sleep, start_gateway, start_mock } from './harness.mjs';
import { fetch_text, post } from './http.mjs';
import { kEnd, kEventStream, kHead, say, start_upstream } from './upstream.mjs';

const kPeak = 700; // MiB, with sanitizers
const kMegabyte = 1 << 20;
const peak = (gateway) =>
  Number(readFileSync(`/proc/${gateway.pid}/status`, 'utf8').match(/VmHWM:\s+(\d+)/)[1]) / 1024;
const readyz = async (gateway) => (await fetch_text(`${gateway.url}/readyz`)).json();
const message = (text) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] });

async function create(gateway, body, options = { ms: 60_000 }) {
  return await post(`${gateway.v1}/responses`, { model: 'm', ...body }, options);
}

async function item_ids(gateway, response) {
  const ids = [];
  for (;;) {
    const after = ids.length === 0 ? '' : `&after=${ids.at(-1)}`;
    const url = `${gateway.v1}/responses/${response}/input_items?order=asc&limit=100${after}`;
    const page = (await fetch_text(url)).json();
    ids.push(...page.data.map((item) => item.id));
    if (!page.has_more) return ids;
  }
}

describe('a small request', () => {
  test('does not become large by references to an item', async (t) => {
    const mock = await start_mock(t, 'text "Hello."\n');
    const gateway = await start_gateway(t, one_upstream(mock.v1));
    const first = (await create(gateway, { input: [message('x'.repeat(kMegabyte))] })).json();
    const [id] = await item_ids(gateway, first.id);
    const input = Array.from({ length: 1_000 }, () => ({ type: 'item_reference', id }));
    const answer = await create(gateway, { input });
    assert.equal(answer.status, 413, answer.text.slice(0, 300));
    assert.match(answer.json().error.message, /limits\.max_body/);
    assert.ok(peak(gateway) < kPeak, `${peak(gateway)} MiB`);
    assert.equal((await create(gateway, { input: input.slice(0, 3) })).status, 200);
  });

  test('is not slow by references to many items', async (t) => {
    const mock = await start_mock(t, 'text "Hello."\n');
    const gateway = await start_gateway(t, one_upstream(mock.v1));
    const items = Array.from({ length: 10_000 }, (_, i) => message(`${i}`));
    const first = (await create(gateway, { input: items })).json();
    const prefix = `item_${first.id.slice('resp_'.length)}_i`;
    const input = items.map((_, i) => ({ type: 'item_reference', id: `${prefix}${9_999 - i}` }));
    const began = performance.now();
    const answer = await create(gateway, { input });
    assert.equal(answer.status, 200, answer.text.slice(0, 300));
    // A list of a megabyte, read once for each of them, took half a minute.
    assert.ok(performance.now() - began < 10_000, `${performance.now() - began} ms`);
  });

  for (const store of ['none', 'sqlite']) {
    test(`does not go on from more than a body may have, store ${store}`, async (t) => {
      const mock = await start_mock(t, 'text "Hello."\n');
      const config = one_upstream(mock.v1, { limits: { max_body: '1MiB' } });
      if (store === 'sqlite') config.store = { url: `sqlite:${join(make_folder(t), 'callgate.db')}` };
      const gateway = await start_gateway(t, config);
      let previous_response_id;
      const statuses = [];
      for (let i = 0; i < 4; ++i) {
        const answer = await create(gateway, { previous_response_id, input: 'x'.repeat(400_000) });
        statuses.push(answer.status);
        if (answer.status === 200) previous_response_id = answer.json().id;
        else assert.match(answer.json().error.message, /limits\.max_body/);
      }
      assert.deepEqual(statuses, [200, 200, 413, 413]);
    });
  }
});

test('an answer in the background that there is no memory for fails', async (t) => {
  let left = false;
  const upstream = await start_upstream(t, async (_, response) => {
    response.writeHead(200, kEventStream);
    response.write(kHead);
    response.on('close', () => (left = true));
    const word = say('x'.repeat(50_000));
    for (let sent = 0; !left && sent < 60 * kMegabyte; sent += word.length) {
      if (!response.write(word)) await new Promise((done) => response.once('drain', done).once('close', done));
    }
    response.end(kEnd);
  });
  const gateway = await start_gateway(t, one_upstream(upstream.v1, { limits: { memory: '32MiB' } }));
  const { id } = (await create(gateway, { input: 'hi', background: true })).json();
  let response;
  await eventually('its end', async () => {
    response = (await fetch_text(`${gateway.v1}/responses/${id}`)).json();
    return !['queued', 'in_progress'].includes(response.status);
  }, 60_000);
  assert.equal(response.status, 'failed');
  assert.equal(response.error.code, 'gateway_out_of_memory');
  assert.ok(left, 'the upstream is left');
  await eventually('nothing is held', async () => (await readyz(gateway)).memory_used < kMegabyte);
});

// A WebSocket by hand, that says what it has got so far.
async function open_socket(t, gateway, path = '/v1/responses') {
  const { port } = new URL(gateway.url);
  const socket = net.connect(Number(port), '127.0.0.1');
  t.after(() => socket.destroy());
  const found = { socket, bytes: Buffer.alloc(0), closed: false };
  socket.on('error', () => {});
  socket.on('close', () => (found.closed = true));
  socket.on('data', (bytes) => (found.bytes = Buffer.concat([found.bytes, bytes])));
  socket.write(
    `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: upgrade\r\nupgrade: websocket\r\n` +
      'sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  await eventually('the handshake', () => found.bytes.includes('\r\n\r\n'));
  assert.match(found.bytes.toString('latin1'), /^HTTP\/1\.1 101/);
  return found;
}

// Of a text message of `size` bytes, with a mask of 0.
function head_of(size) {
  const head = Buffer.alloc(14);
  head[0] = 0x81;
  head[1] = 0xff;
  head.writeBigUInt64BE(BigInt(size), 2);
  return head;
}

describe('messages of WebSockets', () => {
  for (const path of ['/v1/responses', '/v1/rooms/r']) {
    test(`to ${path} are reserved while they arrive, and refused when there is no memory`, async (t) => {
      const mock = await start_mock(t, 'text "Hello."\n');
      const rooms = { max_frame: '16MiB', max_message: '16MiB' };
      const gateway = await start_gateway(t, one_upstream(mock.v1, { limits: { memory: '32MiB' }, rooms }));
      const sockets = [];
      for (let i = 0; i < 6; ++i) {
        const each = await open_socket(t, gateway, path);
        each.socket.write(head_of(9 * kMegabyte));
        each.socket.write(Buffer.alloc(9 * kMegabyte - 1, 'x'));
        sockets.push(each);
      }
      const closed = () => sockets.filter((each) => each.closed).length;
      await eventually('three are closed', () => closed() >= 3, 30_000);
      const one = sockets.find((each) => each.closed);
      assert.match(one.bytes.toString('latin1'), /\x03\xf5the gateway has no memory/); // 1013
      assert.ok((await readyz(gateway)).memory_refused > 0);
      const answer = await post(`${gateway.v1}/chat/completions`, { model: 'm', messages: [{ role: 'user', content: 'hi' }] });
      assert.equal(answer.status, 200);
      for (const each of sockets) each.socket.destroy();
      await eventually('nothing is held', async () => (await readyz(gateway)).memory_used < kMegabyte);
    });
  }

  test('have to arrive at the rate of bodies', async (t) => {
    const mock = await start_mock(t, 'text "Hello."\n');
    const limits = { body_timeout: '1s', min_body_rate: '4KiB' };
    const gateway = await start_gateway(t, one_upstream(mock.v1, { limits }));
    const slow = await open_socket(t, gateway);
    slow.socket.write(head_of(kMegabyte));
    const drip = setInterval(() => slow.socket.write('x'), 50);
    t.after(() => clearInterval(drip));
    const silent = await open_socket(t, gateway);
    await eventually('the slow one is closed', () => slow.closed, 15_000);
    assert.match(slow.bytes.toString('latin1'), /\x03\xf0a message arrives too slowly/); // 1008
    await sleep(100);
    assert.ok(!silent.closed, 'one that sends nothing may stay');
  });
});

describe('copies of a body', () => {
  const big = 'x'.repeat(14 * kMegabyte);
  const kCases = {
    'that is passed through': ['/v1/embeddings', { model: 'm', input: big }],
    'whose tokens are counted': ['/v1/messages/count_tokens', { model: 'm', messages: [{ role: 'user', content: big }] }],
    'of responses whose tokens are counted': ['/v1/responses/input_tokens', { model: 'm', input: big }],
    'for MCP': ['/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'clock', arguments: { big } } }],
    'that is replayed': ['/v1/replay', { bytes: big }],
  };
  for (const [what, [path, body]] of Object.entries(kCases)) {
    test(`${what} are reserved`, async (t) => {
      const mock = await start_mock(t, 'text "Hello."\n');
      const config = one_upstream(mock.v1, { limits: { memory: '32MiB' }, upstream: { passthrough: true } });
      const gateway = await start_gateway(t, { ...config, mcp: true, tool: [{ name: 'clock', kind: 'builtin', builtin: 'time' }] });
      const answer = await post(`${gateway.url}${path}`, body, { ms: 60_000 });
      assert.equal(answer.status, 503, answer.text.slice(0, 300));
      assert.match(answer.text, /no memory/);
      await eventually('nothing is held', async () => (await readyz(gateway)).memory_used < kMegabyte);
    });
  }
});

test('an address has its places over WebSocket as well', async (t) => {
  const mock = await start_mock(t, 'text "Wait."\nhang\n');
  const gateway = await start_gateway(t, one_upstream(mock.v1, { limits: { address_streams: 1 } }));
  const body = Buffer.from(JSON.stringify({ type: 'response.create', model: 'm', store: false, input: 'hi' }));
  const frame = Buffer.concat([Buffer.from([0x81, 0x80 | body.length, 0, 0, 0, 0]), body]);
  assert.ok(body.length < 126);
  const first = await open_socket(t, gateway);
  first.socket.write(frame);
  await eventually('the turn runs', () => first.bytes.includes('response.output_text.delta'));
  const second = await open_socket(t, gateway);
  second.socket.write(frame);
  await eventually('the refusal', () => second.bytes.includes('too_many_streams'));
  for (const { socket } of [first, second]) socket.destroy();
});

test('runs of tools and counts of tokens take places', async (t) => {
  const mock = await start_mock(t, 'text "Wait."\nhang\n');
  const config = one_upstream(mock.v1, { limits: { max_streams: 1 } });
  const tool = [{ name: 'clock', kind: 'builtin', builtin: 'time' }];
  const gateway = await start_gateway(t, { ...config, mcp: true, tool });
  const body = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] });
  const running = await fetch(`${gateway.v1}/chat/completions`, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
  const messages = [{ role: 'user', content: 'hi' }];
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'clock', arguments: {} } };
  const asks = [['/v1/messages/count_tokens', { model: 'm', messages }], ['/v1/responses/input_tokens', { model: 'm', input: 'hi' }], ['/mcp', call]];
  for (const [path, asked] of asks) assert.equal((await post(gateway.url + path, asked)).status, 429, path);
  await running.body.cancel();
  await eventually('its place is free', async () => (await readyz(gateway)).streams === 0);
  for (const [path, asked] of asks) assert.equal((await post(gateway.url + path, asked)).status, 200, path);
});
