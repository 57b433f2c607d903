// Requests at the edge of what is reasonable, in every protocol: 20 MB of image, 10,000 items, bodies that are too large, and
// clients of a WebSocket that send but never read. Each gets an answer or the protocol's own error, and memory stays bounded.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { describe, test } from 'node:test';
import { eventually, one_upstream, sleep, start_gateway, start_mock } from './harness.mjs';
import { fetch_text, post } from './http.mjs';
import { kEnd, kEventStream, kHead, say, start_upstream } from './upstream.mjs';

const kPeak = 900; // MiB that a gateway may ever hold here, with sanitizers; without bounds it would be gigabytes
const peak = (gateway) =>
  Number(readFileSync(`/proc/${gateway.pid}/status`, 'utf8').match(/VmHWM:\s+(\d+)/)[1]) / 1024;

const to_hash = (text) => createHash('sha256').update(text).digest('hex');
const kPng = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), randomBytes(20_000_000)]);
const kImage = kPng.toString('base64');
const kUrl = `data:image/png;base64,${kImage}`;
const kText = 'What is this?';

// How each protocol says it, and what its errors look like.
const kProtocols = {
  chat: {
    path: '/v1/chat/completions',
    image: { messages: [{ role: 'user', content: [{ type: 'text', text: kText }, { type: 'image_url', image_url: { url: kUrl } }] }] },
    items: (count) => ({ messages: Array.from({ length: count }, (_, i) => ({ role: i % 2 ? 'assistant' : 'user', content: `${i}` })) }),
    error: ({ error }) => [error.type, error.message],
  },
  responses: {
    path: '/v1/responses',
    image: { input: [{ role: 'user', content: [{ type: 'input_text', text: kText }, { type: 'input_image', image_url: kUrl }] }] },
    items: (count) => ({ input: Array.from({ length: count }, (_, i) => ({ role: i % 2 ? 'assistant' : 'user', content: `${i}` })) }),
    error: ({ error }) => [error.type, error.message],
  },
  messages: {
    path: '/v1/messages',
    image: { max_tokens: 9, messages: [{ role: 'user', content: [{ type: 'text', text: kText }, { type: 'image', source: { type: 'base64', media_type: 'image/png', data: kImage } }] }] },
    items: (count) => ({ max_tokens: 9, messages: Array.from({ length: count }, (_, i) => ({ role: i % 2 ? 'assistant' : 'user', content: `${i}` })) }),
    error: ({ type, error }) => [`${type}/${error.type}`, error.message],
  },
  gemini: {
    path: '/v1beta/models/m:generateContent',
    image: { contents: [{ role: 'user', parts: [{ text: kText }, { inlineData: { mimeType: 'image/png', data: kImage } }] }] },
    items: (count) => ({ contents: Array.from({ length: count }, (_, i) => ({ role: i % 2 ? 'model' : 'user', parts: [{ text: `${i}` }] })) }),
    error: ({ error }) => [error.status, error.message],
  },
  ollama: {
    path: '/api/chat',
    image: { stream: false, messages: [{ role: 'user', content: kText, images: [kImage] }] },
    items: (count) => ({ stream: false, messages: Array.from({ length: count }, (_, i) => ({ role: i % 2 ? 'assistant' : 'user', content: `${i}` })) }),
    error: ({ error }) => ['', error],
  },
};
const kTooLarge = {
  chat: 'invalid_request_error',
  responses: 'invalid_request_error',
  messages: 'error/request_too_large',
  gemini: 'INVALID_ARGUMENT',
  ollama: '',
};

// Asks for what is refused before it is read: the answer counts, whatever becomes of the rest of the request.
const post_too_much = (url, body) =>
  new Promise((resolve, reject) => {
    const request = http.request(url, { method: 'POST', agent: false });
    request.setHeader('content-type', 'application/json');
    request.setHeader('content-length', Buffer.byteLength(body));
    request.on('error', reject);
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece) => (text += piece));
      response.on('end', () => resolve({ status: response.statusCode, text }));
      response.on('error', reject);
    });
    request.end(body);
  });

// A model server that keeps what it was told.
async function start_listener(t) {
  const told = [];
  const upstream = await start_upstream(t, (request, response) => {
    told.push(JSON.parse(request.text).messages);
    response.writeHead(200, kEventStream);
    response.end(kHead + say('A picture.') + kEnd);
  });
  return { told, v1: upstream.v1 };
}

describe('a large request', () => {
  for (const [name, { path, image, items, error }] of Object.entries(kProtocols)) {
    test(`of ${name}: 20 MB of image arrive, 40 MB are refused`, async (t) => {
      const listener = await start_listener(t);
      const gateway = await start_gateway(t, one_upstream(listener.v1));
      const answer = await post(gateway.url + path, { model: 'm', ...image }, { ms: 100_000 });
      assert.equal(answer.status, 200, answer.text);
      const parts = listener.told[0].at(-1).content;
      const { url } = parts.find(({ type }) => type === 'image_url').image_url;
      assert.equal(to_hash(url), to_hash(kUrl));
      assert.equal(parts.find(({ type }) => type === 'text').text, kText);

      const twice = JSON.stringify({ model: 'm', ...image, padding: kImage });
      const refused = await post_too_much(gateway.url + path, twice);
      assert.equal(refused.status, 413, refused.text);
      const [type, message] = error(JSON.parse(refused.text));
      assert.equal(type, kTooLarge[name]);
      assert.match(message, /max_body|larger|too large/i);
      assert.ok(peak(gateway) < kPeak, `${peak(gateway)} MiB`);
    });

    test(`of ${name}: 10,000 items arrive in their order`, async (t) => {
      const listener = await start_listener(t);
      const gateway = await start_gateway(t, one_upstream(listener.v1));
      const body = { model: 'm', ...items(10_001) };
      const answer = await post(gateway.url + path, body, { ms: 100_000 });
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(
        listener.told[0].map(({ content }) => content),
        Array.from({ length: 10_001 }, (_, i) => `${i}`),
      );
      assert.ok(peak(gateway) < kPeak, `${peak(gateway)} MiB`);
    });
  }

  test('of responses: 10,000 items that nobody knows are skipped, counted and named within reason', async (t) => {
    const listener = await start_listener(t);
    const gateway = await start_gateway(t, one_upstream(listener.v1));
    const unknown = Array.from({ length: 10_000 }, (_, i) => ({ type: 'hologram', id: `h_${i}` }));
    const input = [...unknown, { role: 'user', content: 'hi' }];
    const answer = await post(`${gateway.v1}/responses`, { model: 'm', input }, { ms: 100_000 });
    assert.equal(answer.status, 200, answer.text);
    const header = answer.headers['x-callgate-dropped'];
    assert.match(header, /^input\[0\], input\[1\], /);
    assert.ok(header.length < 4096, `${header.length} bytes`);
    const metrics = (await fetch_text(`${gateway.url}/metrics`)).text;
    assert.match(metrics, /callgate_dropped_parts_total\{protocol="openai_responses",kind="item"\} 10000\n/);
  });

  test('of responses: a wrong item among 10,000 is named', async (t) => {
    const listener = await start_listener(t);
    const gateway = await start_gateway(t, one_upstream(listener.v1));
    const { input } = kProtocols.responses.items(10_000);
    input[7777] = { type: 'function_call_output', call_id: 7 };
    const answer = await post(`${gateway.v1}/responses`, { model: 'm', input }, { ms: 100_000 });
    assert.equal(answer.status, 400);
    assert.match(answer.json().error.message, /input\[7777\]\.call_id/);
  });
});

// A WebSocket by hand: it writes, and reads only when it is told to.
class Mute {
  static async open(t, gateway) {
    const mute = new Mute();
    const { port } = new URL(gateway.url);
    mute.socket = net.connect(Number(port), '127.0.0.1');
    t.after(() => mute.socket.destroy());
    mute.closed = new Promise((resolve) => mute.socket.on('close', resolve));
    mute.socket.on('error', () => {});
    mute.socket.write(
      'GET /v1/responses HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: upgrade\r\nupgrade: websocket\r\n' +
        'sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    );
    await new Promise((resolve) => mute.socket.once('data', resolve));
    mute.socket.pause();
    return mute;
  }

  static frame(text) {
    const data = Buffer.from(text);
    const head = Buffer.alloc(data.length < 126 ? 6 : data.length < 65_536 ? 8 : 14);
    head[0] = 0x81;
    if (head.length === 6) head[1] = 0x80 | data.length;
    else if (head.length === 8) head.writeUInt16BE(data.length, (head[1] = 0xfe) && 2);
    else head.writeBigUInt64BE(BigInt(data.length), (head[1] = 0xff) && 2);
    return Buffer.concat([head, data]); // the mask is 0
  }

  // Writes until all is taken or nothing has been for three seconds. Gives the bytes that were.
  async flood(bytes, total) {
    let sent = 0;
    while (sent < total && !this.socket.destroyed) {
      const room = this.socket.write(bytes);
      sent += bytes.length;
      if (room) continue;
      const drained = new Promise((resolve) => this.socket.once('drain', () => resolve(true)));
      if (!(await Promise.race([drained, sleep(3_000).then(() => false)]))) break;
    }
    return sent - this.socket.writableLength;
  }
}

describe('a client of a WebSocket that never reads', () => {
  const kRubbish = Buffer.concat(Array.from({ length: 1000 }, () => Mute.frame('{"type":"x"}')));
  const kMegabyte = 1 << 20;

  test('is not read from either once errors wait for it', async (t) => {
    const listener = await start_listener(t);
    const gateway = await start_gateway(t, one_upstream(listener.v1));
    const mute = await Mute.open(t, gateway);
    // Every message of 18 bytes gets an error of more than 200.
    const taken = await mute.flood(kRubbish, 64 * kMegabyte);
    assert.ok(taken < 32 * kMegabyte, `${taken} bytes were taken`);
    assert.ok(peak(gateway) < kPeak, `${peak(gateway)} MiB`);
    mute.socket.destroy();
  });

  test('is not read from either once warm-ups wait for it', async (t) => {
    const listener = await start_listener(t);
    const gateway = await start_gateway(t, one_upstream(listener.v1));
    const mute = await Mute.open(t, gateway);
    const warm = Mute.frame(JSON.stringify({ type: 'response.create', model: 'm', generate: false, store: false, instructions: 'x'.repeat(100_000), input: 'hi' }));
    const taken = await mute.flood(warm, 512 * kMegabyte);
    assert.ok(taken < 128 * kMegabyte, `${taken} bytes were taken`);
    assert.ok(peak(gateway) < kPeak, `${peak(gateway)} MiB`);
    mute.socket.destroy();
  });

  test('stops its upstream, and is closed when it takes nothing for write_timeout', async (t) => {
    let sent = 0;
    let left = false;
    const upstream = await start_upstream(t, async (_, response) => {
      response.writeHead(200, kEventStream);
      response.write(kHead);
      response.on('close', () => (left = true));
      const word = say('x'.repeat(50_000));
      while (!left && sent < 1024 * kMegabyte) {
        sent += word.length;
        if (!response.write(word)) await new Promise((resolve) => response.once('drain', resolve).once('close', resolve));
      }
    });
    const gateway = await start_gateway(t, {
      ...one_upstream(upstream.v1),
      limits: { write_timeout: '2s' },
    });
    const mute = await Mute.open(t, gateway);
    mute.socket.write(Mute.frame(JSON.stringify({ type: 'response.create', model: 'm', input: 'hi', store: false })));
    await eventually('the upstream is left', () => left, 60_000);
    assert.ok(sent < 256 * kMegabyte, `${sent} bytes were sent`);
    assert.ok(peak(gateway) < kPeak, `${peak(gateway)} MiB`);
    mute.socket.resume();
    await mute.closed;
  });

  test('that sends too much behind a turn that runs is told so', async (t) => {
    const mock = await start_mock(t, 'text "Wait."\nhang\n');
    const gateway = await start_gateway(t, one_upstream(mock.v1));
    const mute = await Mute.open(t, gateway);
    let text = '';
    mute.socket.on('data', (bytes) => (text += bytes.toString('latin1')));
    mute.socket.resume();
    const create = (input) => Mute.frame(JSON.stringify({ type: 'response.create', model: 'm', store: false, input }));
    mute.socket.write(create('hi'));
    await eventually('the turn runs', () => text.includes('response.output_text.delta'));
    // limits.max_body is 32 MiB: four wait, three are refused.
    for (let i = 0; i < 7; ++i) mute.socket.write(create('x'.repeat(7 * kMegabyte)));
    const refusals = () => text.split('websocket_stream_limit_reached').length - 1;
    await eventually('the refusals', () => refusals() === 3, 60_000);
    assert.match(text, /"status":429/);
    assert.ok(peak(gateway) < kPeak, `${peak(gateway)} MiB`);
    mute.socket.destroy();
  });
});
