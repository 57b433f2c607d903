// Upstreams that compress their answers although nobody asked them to, well and badly.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import zlib from 'node:zlib';
import { check_error, check_stream, check_whole } from './chat_contract.mjs';
import { one_upstream, start_gateway } from './harness.mjs';
import { ChatStream, ask, post, stream_chat } from './http.mjs';
import { kEnd, kEventStream, kHead, say, start_upstream, whole_answer } from './upstream.mjs';

const kStream = kHead + say('hel') + say('lo') + kEnd;

const kCodings = {
  gzip: zlib.gzipSync,
  'x-gzip': zlib.gzipSync,
  deflate: zlib.deflateSync,
  'Deflate ': zlib.deflateRawSync,
  br: zlib.brotliCompressSync,
  'gzip, br': (text) => zlib.brotliCompressSync(zlib.gzipSync(text)),
  'identity, gzip': zlib.gzipSync,
  identity: (text) => text,
};

const encoded = (coding, encode) => (request, response) => {
  const whole = !JSON.parse(request.text).stream;
  const headers = whole ? { 'content-type': 'application/json' } : kEventStream;
  response.writeHead(200, { ...headers, 'content-encoding': coding });
  response.end(encode(whole ? whole_answer('hello') : kStream));
};

async function start(t, answer, config = {}) {
  const upstream = await start_upstream(t, answer);
  const { model, ...rest } = config;
  const gateway = await start_gateway(
    t,
    one_upstream(upstream.v1, { model: { retry_backoff: '5ms', retries: 2, ...model }, ...rest }),
  );
  return { upstream, gateway, chat: `${gateway.v1}/chat/completions` };
}

describe('an answer in every coding', () => {
  for (const [coding, encode] of Object.entries(kCodings)) {
    test(coding, async (t) => {
      const { upstream, gateway, chat } = await start(t, encoded(coding, encode));
      const { data } = await stream_chat(gateway.url, ask('x'));
      assert.equal(check_stream(data).text, 'hello');
      const whole = await post(chat, ask('x'));
      assert.equal(check_whole(whole.json()).choices[0].message.content, 'hello');
      assert.equal(whole.headers['content-encoding'], undefined);
      assert.equal(upstream.requests.length, 2, 'one try each');
      assert.equal(upstream.requests[0].headers['accept-encoding'], 'identity');
    });
  }

  test('several gzip members, one per frame', async (t) => {
    const frames = [kHead, say('hel'), say('lo'), kEnd];
    const { gateway } = await start(t, (_, response) => {
      response.writeHead(200, { ...kEventStream, 'content-encoding': 'gzip' });
      response.end(Buffer.concat(frames.map((frame) => zlib.gzipSync(frame))));
    });
    const { data } = await stream_chat(gateway.url, ask('x'));
    assert.equal(check_stream(data).text, 'hello');
  });
});

test('what an upstream flushed reaches the client before the rest exists', async (t) => {
  let finish;
  const { gateway } = await start(t, (_, response) => {
    const gzip = zlib.createGzip();
    response.writeHead(200, { ...kEventStream, 'content-encoding': 'gzip' });
    gzip.pipe(response);
    gzip.write(kHead + say('hel'));
    gzip.flush(zlib.constants.Z_SYNC_FLUSH);
    finish = () => gzip.end(say('lo') + kEnd);
  });
  const stream = await ChatStream.open(gateway.url, ask('x'));
  let text = '';
  for await (const { data } of stream) {
    if (data === '[DONE]') break;
    text += JSON.parse(data).choices[0].delta.content ?? '';
    if (text === 'hel') finish();
  }
  assert.equal(text, 'hello');
});

describe('an answer that cannot be read is an error', () => {
  const cut = (encode, lost) => (text) => {
    const all = encode(text);
    return all.subarray(0, all.length - lost);
  };
  const damaged = (text) => {
    const all = zlib.gzipSync(text);
    all[all.length >> 1] ^= 0xff;
    return all;
  };
  const kUnreadable = {
    'in an unknown coding': ['compress', (text) => text, /"compress"/, 1],
    'cut short': ['gzip', cut(zlib.gzipSync, 40), /cut short/, 3],
    'cut short, brotli': ['br', cut(zlib.brotliCompressSync, 30), /cut short/, 3],
    damaged: ['gzip', damaged, /damaged/, 3],
    'not compressed': ['gzip', (text) => text, /damaged/, 3],
    'a bomb': ['gzip', () => zlib.gzipSync(Buffer.alloc(48 << 20, '\n')), /400 times/, 1],
    'a stacked bomb': [
      'gzip, gzip',
      () => zlib.gzipSync(zlib.gzipSync(Buffer.alloc(256 << 20, ' '))),
      /times/,
      1,
    ],
  };
  for (const [what, [coding, encode, message, tries]] of Object.entries(kUnreadable)) {
    test(what, async (t) => {
      const { upstream, chat } = await start(t, encoded(coding, encode));
      for (const stream of [true, false]) {
        const before = upstream.requests.length;
        const answer = await post(chat, { ...ask('x'), stream });
        // A stream of which the client has seen a part ends with an error frame.
        if (answer.status === 200) {
          assert.ok(stream, answer.text);
          const data = answer.text.split('\n\n').map((frame) => frame.replace(/^data: /, ''));
          check_error(JSON.parse(data.at(-3)), { message });
          assert.doesNotMatch(answer.text, /"finish_reason":"/);
          continue;
        }
        assert.equal(answer.status, 502, answer.text);
        check_error(answer.json(), { message });
        assert.equal(upstream.requests.length - before, tries, 'tries');
      }
    });
  }
});

test('an error status keeps its status and its words', async (t) => {
  const error = { message: 'slow down, please', type: 'rate_limit_error', code: 'too_fast' };
  const { chat } = await start(
    t,
    (_, response) =>
      response
        .writeHead(429, { 'content-type': 'application/json', 'content-encoding': 'br' })
        .end(zlib.brotliCompressSync(JSON.stringify({ error }))),
    { model: { retries: 0 } },
  );
  const answer = await post(chat, ask('x'));
  assert.equal(answer.status, 429);
  check_error(answer.json(), { message: /slow down, please/ });
});

describe('a request in every coding', () => {
  const whole = (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(whole_answer('hello'));
  const send = (url, coding, body) =>
    fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', 'content-encoding': coding }, body });

  for (const [coding, encode] of Object.entries(kCodings)) {
    test(coding, async (t) => {
      const { upstream, chat } = await start(t, whole);
      const answer = await send(chat, coding, encode(JSON.stringify(ask('compressed'))));
      assert.equal(answer.status, 200);
      assert.equal(check_whole(await answer.json()).choices[0].message.content, 'hello');
      assert.equal(JSON.parse(upstream.requests[0].text).messages.at(-1).content, 'compressed');
      assert.equal(upstream.requests[0].headers['content-encoding'], undefined);
    });
  }

  test('one that is not known, and one that is damaged', async (t) => {
    const { upstream, gateway, chat } = await start(t, whole);
    const unknown = await send(chat, 'compress', '{}');
    assert.equal(unknown.status, 400);
    assert.match((await unknown.json()).error.message, /"compress", expected gzip, deflate, br, zstd or identity/);
    const damaged = await send(`${gateway.v1}/messages`, 'gzip', '{}');
    assert.equal(damaged.status, 400);
    assert.equal((await damaged.json()).type, 'error');
    assert.equal(upstream.requests.length, 0);
  });
});
