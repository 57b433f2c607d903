// Streams in time: what leaves when, and what happens when a client leaves or dawdles.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, test } from 'node:test';
import { check_stream, check_whole } from './chat_contract.mjs';
import {
  eventually,
  file_scope,
  one_upstream,
  sleep,
  start_gateway,
  start_mock,
  within,
} from './harness.mjs';
import { ask, ChatStream, fetch_text, open, post, stream_chat } from './http.mjs';
import { chunk, kEnd, kEventStream, kHead, say, start_upstream } from './upstream.mjs';

const median = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];

async function metric(gateway, name) {
  const { text } = await fetch_text(`${gateway.url}/metrics`);
  return Number(text.match(new RegExp(`^${name} (\\d+)$`, 'm'))?.[1] ?? NaN);
}

describe('frames leave as they come', () => {
  test('each one before the upstream sends the next', async (t) => {
    let arrived = () => {};
    const upstream = await start_upstream(t, async (_, response) => {
      response.writeHead(200, kEventStream);
      response.write(kHead);
      for (let i = 0; i < 20; ++i) {
        const seen = new Promise((resolve) => (arrived = resolve));
        response.write(say(`word${i} `));
        await within(5_000, `word ${i}`, seen);
      }
      response.end(kEnd);
    });
    const gateway = await start_gateway(t, one_upstream(upstream.v1));
    const stream = await ChatStream.open(gateway.url, ask('x'));
    for await (const frame of stream) if (frame.data?.includes('word')) arrived();
    assert.equal(check_stream(stream.frames.map((frame) => frame.data)).text.split(' ').length, 21);
  });

  test('arguments, too, while the call is open', async (t) => {
    let arrived = () => {};
    const pieces = ['{"ci', 'ty": "Zü', 'rich", "n": [1, ', '2, 3', ']}'];
    const call = (fields, text) =>
      chunk({
        tool_calls: [{ index: 0, ...fields, function: { ...fields.function, arguments: text } }],
      });
    const upstream = await start_upstream(t, async (_, response) => {
      response.writeHead(200, kEventStream);
      response.write(kHead + call({ id: 'c', type: 'function', function: { name: 'f' } }, ''));
      for (const piece of pieces) {
        const seen = new Promise((resolve) => (arrived = resolve));
        response.write(call({}, piece));
        await within(5_000, piece, seen);
      }
      response.end(chunk({}, { finish_reason: 'tool_calls' }) + 'data: [DONE]\n\n');
    });
    const gateway = await start_gateway(t, one_upstream(upstream.v1));
    const stream = await ChatStream.open(gateway.url, ask('x'));
    for await (const frame of stream) if (/"arguments":"[^"]/.test(frame.data)) arrived();
    const [{ arguments: text }] = check_stream(stream.frames.map((frame) => frame.data)).calls;
    assert.equal(text, pieces.join(''));
  });

  test('bytes that are cut anywhere make no difference', async (t) => {
    const mock = await start_mock(
      t,
      'write 1\ntext "Grüße 🌤 und 漢字"\ncall f {"a": "ü🌤", "b": [1, {"c": null}]}\n',
    );
    const gateway = await start_gateway(t, one_upstream(mock.v1));
    const turn = check_stream((await stream_chat(gateway.url, ask('x'))).data);
    assert.equal(turn.text, 'Grüße 🌤 und 漢字');
    assert.equal(turn.calls[0].arguments, '{"a": "ü🌤", "b": [1, {"c": null}]}');
  });
});

describe('a client that leaves', () => {
  test('stops the upstream within 20 ms', async (t) => {
    const upstream = await start_upstream(t, (_, response) => {
      response.writeHead(200, kEventStream);
      response.write(kHead + say('hello'));
    });
    const gateway = await start_gateway(t, one_upstream(upstream.v1));
    const times = [];
    for (let i = 0; i < 9; ++i) {
      const stream = await ChatStream.open(gateway.url, ask('x'));
      await stream[Symbol.asyncIterator]().next();
      const closed = new Promise((resolve) =>
        upstream.requests.at(-1).socket.once('close', () => resolve(performance.now())),
      );
      const left = performance.now();
      stream.leave();
      times.push((await within(5_000, 'the upstream sees the end', closed)) - left);
    }
    t.diagnostic(
      `client gone -> upstream closed: median ${median(times).toFixed(2)} ms, worst ${Math.max(...times).toFixed(2)} ms`,
    );
    assert.ok(median(times) < 20, times.join(' '));
    await eventually(
      'disconnects are counted',
      async () => (await metric(gateway, 'callgate_client_disconnects_total')) === 9,
    );
    await eventually(
      'no stream is left',
      async () => (await metric(gateway, 'callgate_streams_active')) === 0,
    );
  });

  for (const stream of [true, false]) {
    test(`stops an upstream that has not answered yet, ${stream ? 'stream' : 'whole'}`, async (t) => {
      const upstream = await start_upstream(t, () => {});
      const gateway = await start_gateway(t, one_upstream(upstream.v1));
      const times = [];
      for (let i = 0; i < 5; ++i) {
        const leave = new AbortController();
        const asked = fetch(`${gateway.v1}/chat/completions`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(ask('x', { stream })),
          signal: leave.signal,
        });
        asked.catch(() => {});
        await eventually('the upstream is asked', () => upstream.requests.length === i + 1);
        const closed = new Promise((resolve) =>
          upstream.requests.at(-1).socket.once('close', () => resolve(performance.now())),
        );
        const left = performance.now();
        leave.abort();
        times.push((await within(5_000, 'the upstream sees the end', closed)) - left);
      }
      assert.ok(median(times) < 20, times.join(' '));
      assert.equal(upstream.requests.length, 5, 'nothing is tried again for a client that left');
    });
  }
});

describe('a client that dawdles', () => {
  const resident = (pid) =>
    Number(readFileSync(`/proc/${pid}/status`, 'utf8').match(/VmRSS:\s+(\d+)/)[1]) / 1024;

  test('holds the upstream back instead of filling memory', async (t) => {
    const total = 48 * 1024 * 1024;
    const frame = say('x'.repeat(8000));
    let sent = 0;
    const upstream = await start_upstream(t, async (_, response) => {
      response.writeHead(200, kEventStream);
      response.write(kHead);
      while (sent < total && !response.destroyed) {
        sent += 8000;
        if (!response.write(frame))
          await new Promise((resolve) => response.once('drain', resolve).once('close', resolve));
      }
      response.end(kEnd);
    });
    const gateway = await start_gateway(t, one_upstream(upstream.v1));
    await fetch_text(`${gateway.url}/livez`);
    const before_it = resident(gateway.pid);
    const { response } = await open(`${gateway.v1}/chat/completions`, {
      method: 'POST',
      body: ask('x', { stream: true }),
    });
    response.pause();
    let last = -1;
    await eventually(
      'the upstream stalls',
      async () => {
        const stalled = sent === last;
        last = sent;
        await sleep(200);
        return stalled && sent === last;
      },
      20_000,
    );
    const grown = resident(gateway.pid) - before_it;
    t.diagnostic(
      `upstream stalled after ${(sent / 1e6).toFixed(1)} MB, the gateway grew by ${grown.toFixed(1)} MB`,
    );
    assert.ok(sent < total / 2, `${sent} bytes were taken for a client that reads nothing`);
    assert.ok(grown < 16, `${grown} MB`);

    let bytes = 0;
    let end = '';
    const read = async () => {
      for await (const piece of response.setEncoding('latin1')) {
        bytes += piece.length;
        end = (end + piece).slice(-20);
      }
    };
    await within(60_000, 'the rest', read());
    assert.ok(bytes > total);
    assert.match(end, /data: \[DONE\]\n\n$/);
    assert.ok(resident(gateway.pid) - before_it < 24, 'memory after all was read');
  });

  test('is given up after write_timeout', async (t) => {
    const closed = Promise.withResolvers();
    const upstream = await start_upstream(t, async (request, response) => {
      request.socket.once('close', closed.resolve);
      response.writeHead(200, kEventStream);
      response.write(kHead);
      while (!response.destroyed) {
        if (!response.write(say('x'.repeat(8000))))
          await new Promise((resolve) => response.once('drain', resolve).once('close', resolve));
      }
    });
    const gateway = await start_gateway(
      t,
      one_upstream(upstream.v1, { limits: { write_timeout: '500ms' } }),
    );
    const { response } = await open(`${gateway.v1}/chat/completions`, {
      method: 'POST',
      body: ask('x', { stream: true }),
    });
    response.on('error', () => {});
    response.pause();
    await within(15_000, 'the upstream is let go', closed.promise);
    response.destroy();
  });
});

describe('several choices', () => {
  const choice = (index, delta, finish_reason = null) =>
    `data: ${JSON.stringify({ id: 'u', object: 'chat.completion.chunk', created: 1, model: 'u', choices: [{ index, delta, finish_reason }] })}\n\n`;
  const kCall = { index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
  const kTwo = [
    choice(0, { role: 'assistant', content: '' }),
    choice(1, { role: 'assistant', content: '' }),
    choice(0, { content: 'first ' }),
    choice(1, { tool_calls: [kCall] }),
    choice(0, { content: 'choice' }),
    choice(1, {}, 'tool_calls'),
    choice(0, {}, 'stop'),
    'data: [DONE]\n\n',
  ].join('');

  test('are kept apart', async (t) => {
    const upstream = await start_upstream(t, (_, response) =>
      response.writeHead(200, kEventStream).end(kTwo),
    );
    const gateway = await start_gateway(t, one_upstream(upstream.v1));
    const { choices } = check_stream((await stream_chat(gateway.url, ask('x', { n: 2 }))).data, {
      n: 2,
    });
    assert.equal(JSON.parse(upstream.requests[0].text).n, 2);
    assert.deepEqual([choices[0].text, choices[0].finish_reason], ['first choice', 'stop']);
    assert.deepEqual([choices[1].text, choices[1].finish_reason], ['', 'tool_calls']);
    assert.equal(choices[1].calls[0].name, 'f');
    const whole = check_whole(
      (await post(`${gateway.v1}/chat/completions`, ask('x', { n: 2 }))).json(),
    );
    assert.deepEqual(
      whole.choices.map((c) => [c.index, c.message.content, c.finish_reason]),
      [
        [0, 'first choice', 'stop'],
        [1, null, 'tool_calls'],
      ],
    );
  });
});

describe('silence on a stream', () => {
  const scope = file_scope();
  let gateway;
  before(async () => {
    const upstream = await start_upstream(scope, async (_, response) => {
      response.writeHead(200, kEventStream);
      response.write(kHead + say('hel'));
      await sleep(500);
      response.end(say('lo') + kEnd);
    });
    gateway = await start_gateway(
      scope,
      one_upstream(upstream.v1, { limits: { keepalive_comment: '100ms' } }),
    );
  });

  test('is broken by comments', async () => {
    const { stream, data } = await stream_chat(gateway.url, ask('x'));
    assert.equal(check_stream(data).text, 'hello');
    const comments = stream.frames.filter((frame) => frame.comment !== undefined).length;
    assert.ok(comments >= 2, `${comments} comments`);
  });

  test('is kept when the client asks for it', async () => {
    const { stream, data } = await stream_chat(gateway.url, ask('x'), {
      headers: { 'X-No-Keepalive': '1' },
    });
    assert.equal(check_stream(data).text, 'hello');
    assert.ok(stream.frames.every((frame) => frame.comment === undefined));
  });
});

describe('many at a time', () => {
  test('200 streams end each with its own text', async (t) => {
    const upstream = await start_upstream(t, async (request, response) => {
      const word = JSON.parse(request.text).messages[0].content;
      response.writeHead(200, kEventStream);
      response.write(kHead);
      for (let i = 0; i < 5; ++i) {
        response.write(say(`${word}.${i} `));
        await sleep(10);
      }
      response.end(kEnd);
    });
    const gateway = await start_gateway(t, one_upstream(upstream.v1));
    const texts = await Promise.all(
      Array.from(
        { length: 200 },
        async (_, i) => check_stream((await stream_chat(gateway.url, ask(`w${i}`))).data).text,
      ),
    );
    texts.forEach((text, i) =>
      assert.equal(text, Array.from({ length: 5 }, (_, k) => `w${i}.${k} `).join('')),
    );
    await eventually('no stream', async () => (await metric(gateway, 'callgate_streams_active')) === 0);
  });
});
