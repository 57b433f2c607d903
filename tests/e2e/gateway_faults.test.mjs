// Upstreams that fail. Before the first byte the client gets a real status, or does not notice; after it, an error
// frame and [DONE].
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { make_certificate } from './certificate.mjs';
import { check_error, check_stream, check_whole } from './chat_contract.mjs';
import { make_folder, one_upstream, start_gateway } from './harness.mjs';
import { ask, fetch_text, post, stream_chat } from './http.mjs';
import { kEnd, kEventStream, kHead, say, start_upstream, whole_answer } from './upstream.mjs';

function answer_well(request, response) {
  if (!JSON.parse(request.text).stream) return response.end(whole_answer('hello'));
  response.writeHead(200, kEventStream);
  return response.end(kHead + say('hello') + kEnd);
}

const fail_with =
  (status, body, headers = { 'content-type': 'application/json' }) =>
  (_, response) =>
    response.writeHead(status, headers).end(body);
const reset = (request) => request.socket.resetAndDestroy();
const error_text = (fields) =>
  JSON.stringify({ error: { message: 'no', type: 'x_error', param: null, code: null, ...fields } });

// A gateway before an upstream that answers each try as the list says, the last one for good.
async function start(t, answers, config = {}) {
  const upstream = await start_upstream(t, (request, response, i) =>
    answers[Math.min(i, answers.length - 1)](request, response),
  );
  const { model, upstream: row, ...rest } = config;
  const gateway = await start_gateway(
    t,
    one_upstream(upstream.v1, {
      model: { retry_backoff: '5ms', retries: 2, ...model },
      upstream: { first_byte_timeout: '5s', ...row },
      ...rest,
    }),
  );
  return { upstream, gateway, chat: `${gateway.v1}/chat/completions` };
}

// The same failure must look the same to clients that stream and to those that do not.
const kBoth = [
  ['stream', true],
  ['whole', false],
];

describe('an upstream that fails at first is tried again', () => {
  const kOnce = {
    'with 429': fail_with(429, error_text({ type: 'rate_limit_exceeded' })),
    'with 500 and HTML': fail_with(500, '<html><h1>Oops</h1></html>', {
      'content-type': 'text/html',
    }),
    'with 503': fail_with(503, ''),
    'with 529': fail_with(529, error_text({ type: 'overloaded_error' })),
    'with a reset before the first byte': reset,
    'with a close before the first byte': (request) => request.socket.end(),
    'with an error in a 200': fail_with(200, error_text({ type: 'server_error' })),
    'with an empty 200': fail_with(200, '', kEventStream),
    'with an error as the first frame': fail_with(
      200,
      `data: ${error_text({ type: 'server_error' })}\n\n`,
      kEventStream,
    ),
    'with nothing but [DONE]': fail_with(200, 'data: [DONE]\n\n', kEventStream),
    'with a chunk that is cut short': fail_with(
      200,
      'data: {"choices":[{"index":0,"delta":{"content":"gh\n\ndata: [DONE]\n\n',
      kEventStream,
    ),
    'with a code and a message': fail_with(
      200,
      'data: {"code":"InternalError.Algo","message":"no"}\n\ndata: [DONE]\n\n',
      kEventStream,
    ),
    'with a status in base_resp': fail_with(
      200,
      '{"choices":null,"base_resp":{"status_code":1000,"status_msg":"no"}}',
    ),
    'with a call that has no name': fail_with(
      200,
      'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":' +
        '{"arguments":"{}"}}]},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n',
      kEventStream,
    ),
  };
  for (const [what, fail] of Object.entries(kOnce)) {
    for (const [way, stream] of kBoth) {
      test(`${what}, ${way}`, async (t) => {
        const { upstream, gateway, chat } = await start(t, [fail, answer_well]);
        if (stream) {
          const { data, status } = await stream_chat(gateway.url, ask('x'));
          assert.equal(status, 200);
          assert.equal(check_stream(data).text, 'hello');
        } else {
          const answer = await post(chat, ask('x'));
          assert.equal(answer.status, 200, answer.text);
          assert.equal(check_whole(answer.json()).choices[0].message.content, 'hello');
        }
        assert.equal(upstream.requests.length, 2);
        const metrics = await fetch_text(`${gateway.url}/metrics`);
        assert.match(metrics.text, /^callgate_upstream_retries_total\{upstream="main"\} 1$/m);
      });
    }
  }

  test('it is given the time that it asks for', async (t) => {
    const times = [];
    const note =
      (answer) =>
      (...args) => {
        times.push(performance.now());
        return answer(...args);
      };
    const busy = fail_with(429, error_text({}), { 'retry-after': '1' });
    const { chat } = await start(t, [note(busy), note(answer_well)]);
    assert.equal((await post(chat, ask('x'))).status, 200);
    assert.ok(times[1] - times[0] > 950, `${times[1] - times[0]} ms`);
  });
});

describe('an upstream that keeps failing gives a real status', () => {
  // answer, status, tries, what the error says
  const kAlways = {
    'with 429': [
      fail_with(429, error_text({ type: 'rate_limit_exceeded', code: 'slow' }), {
        'retry-after': '30',
      }),
      429,
      1,
      { message: /no/ },
    ],
    'with 429 and no word on when': [fail_with(429, error_text({})), 429, 3, { message: /no/ }],
    'with an empty purse': [
      fail_with(429, error_text({ code: 'insufficient_quota' })),
      429,
      1,
      { code: 'insufficient_quota' },
    ],
    'with 500 and HTML': [
      fail_with(500, '<html><h1>Oops</h1></html>', { 'content-type': 'text/html' }),
      502,
      3,
      {},
    ],
    'with 503': [fail_with(503, ''), 503, 3, {}],
    'with 400': [
      fail_with(400, error_text({ type: 'invalid_request_error', param: 'tools' })),
      400,
      1,
      { param: 'tools', type: 'invalid_request_error', message: /no/ },
    ],
    'with 404': [
      fail_with(404, error_text({ code: 'model_not_found' })),
      404,
      1,
      { code: 'model_not_found', message: /no \(upstream "main", POST http:\S+\/v1\/chat\/\w+\)/ },
    ],
    'with 401 for our key': [fail_with(401, error_text({})), 502, 1, {}],
    'with resets': [reset, 502, 3, {}],
    'with an error in a 200': [
      fail_with(200, error_text({ type: 'server_error' })),
      502,
      3,
      { message: /no/ },
    ],
    'with an error as the first frame': [
      fail_with(200, `data: ${error_text({})}\n\n`, kEventStream),
      502,
      3,
      { message: /no/ },
    ],
    'with an empty 200': [fail_with(200, '', kEventStream), 502, 3, {}],
    'with a page in a 200': [
      fail_with(200, '<html>login</html>', { 'content-type': 'text/html' }),
      502,
      3,
      {},
    ],
    'with a redirect': [
      fail_with(302, '', { location: 'http://127.0.0.1:1/' }),
      502,
      undefined,
      {},
    ],
  };
  for (const [what, [fail, status, tries, said]] of Object.entries(kAlways)) {
    for (const [way, stream] of kBoth) {
      test(`${what}, ${way}`, async (t) => {
        const { upstream, chat } = await start(t, [fail]);
        const answer = await post(chat, ask('x', { stream }));
        assert.equal(answer.status, status, answer.text);
        assert.match(answer.headers['content-type'], /^application\/json/);
        check_error(answer.json(), said);
        if (tries !== undefined) assert.equal(upstream.requests.length, tries, 'tries');
        if (what === 'with 429') assert.equal(answer.headers['retry-after'], '30');
        if (what === 'with an empty purse') assert.equal(answer.headers['x-should-retry'], 'false');
      });
    }
  }

  for (const [way, stream] of kBoth) {
    test(`one that never answers runs into the limit, ${way}`, async (t) => {
      const { upstream, chat } = await start(t, [() => {}], {
        model: { retries: 0 },
        upstream: { first_byte_timeout: '300ms' },
      });
      const began = performance.now();
      const answer = await post(chat, ask('x', { stream }));
      const took = performance.now() - began;
      assert.equal(answer.status, 504, answer.text);
      check_error(answer.json());
      assert.ok(took > 250 && took < 3_000, `${took} ms`);
      assert.equal(upstream.requests.length, 1);
    });
  }

  test('one that nobody listens for', async (t) => {
    const gateway = await start_gateway(
      t,
      one_upstream('http://127.0.0.1:1/v1', { model: { retry_backoff: '1ms' } }),
    );
    const answer = await post(`${gateway.v1}/chat/completions`, ask('x'));
    assert.equal(answer.status, 502, answer.text);
    check_error(answer.json(), { message: /main|connect|refused/i });
  });
});

describe('an upstream that fails in the middle ends the stream in an orderly way', () => {
  const half = (then) => (request, response) => {
    response.writeHead(200, kEventStream);
    response.write(kHead + say('hel'), () => then(request, response));
  };
  const kMiddle = {
    'with a reset': half((request) => setTimeout(() => reset(request), 30)),
    'with a clean end': half((_, response) => response.end()),
    'with a cut frame': half((_, response) => response.end('data: {"choices":[{"ind')),
    'with an error frame': half((_, response) =>
      response.end(`data: ${error_text({ message: 'gpu on fire' })}\n\n`),
    ),
    'with silence': half(() => {}),
  };
  for (const [what, answer] of Object.entries(kMiddle)) {
    test(what, async (t) => {
      const { upstream, gateway, chat } = await start(t, [answer], {
        upstream: { idle_timeout: '300ms' },
      });
      const { data, status } = await stream_chat(
        gateway.url,
        ask('x', { stream_options: { include_usage: true } }),
      );
      assert.equal(status, 200);
      assert.equal(data.at(-1), '[DONE]');
      const frames = data.slice(0, -1).map((text) => JSON.parse(text));
      const error = frames.at(-1);
      check_error(error, what === 'with an error frame' ? { message: /gpu on fire/ } : {});
      assert.equal(
        frames
          .slice(0, -1)
          .map((frame) => frame.choices[0]?.delta.content ?? '')
          .join(''),
        'hel',
      );
      assert.ok(
        frames
          .slice(0, -1)
          .every((frame) => frame.choices.every((choice) => choice.finish_reason === null)),
      );
      assert.equal(upstream.requests.length, 1, 'never tried again after the first byte');

      const whole = await post(chat, ask('x'));
      assert.ok(whole.status === 502 || whole.status === 504, `${whole.status} ${whole.text}`);
      check_error(whole.json());
    });
  }
});

test('a 404 says what the URL of the upstream may lack', async (t) => {
  const upstream = await start_upstream(t, fail_with(404, 'Not Found'));
  const gateway = await start_gateway(t, one_upstream(upstream.url));
  const answer = await post(`${gateway.v1}/chat/completions`, ask('x'));
  assert.equal(answer.status, 404, answer.text);
  const message = /upstream "main", POST http:\S+\/chat\/completions; its URL may lack \/v1/;
  check_error(answer.json(), { message });
});

describe('another upstream takes over', () => {
  for (const [what, fail] of Object.entries({
    'for one that resets': reset,
    'for one with 500': fail_with(500, 'x'),
    'for one with 401': fail_with(401, '{}'),
  })) {
    test(what, async (t) => {
      const first = await start_upstream(t, fail);
      const second = await start_upstream(t, answer_well);
      const gateway = await start_gateway(t, {
        upstream: [
          { name: 'first', url: first.v1 },
          { name: 'second', url: second.v1, key: 'k2' },
        ],
        model: [{ name: 'm', upstream: ['first', 'second'] }],
      });
      const { data } = await stream_chat(gateway.url, ask('x'));
      assert.equal(check_stream(data).text, 'hello');
      assert.deepEqual([first.requests.length, second.requests.length], [1, 1]);
      assert.equal(second.requests[0].headers.authorization, 'Bearer k2');
    });
  }
});

describe('TLS to the upstream', () => {
  const certificate = make_certificate();

  test('a certificate that nobody vouches for is refused', async (t) => {
    const upstream = await start_upstream(t, answer_well, { tls: certificate });
    let connections = 0;
    upstream.server.on('connection', () => ++connections);
    const gateway = await start_gateway(t, one_upstream(upstream.v1, { model: { retries: 2 } }));
    const answer = await post(`${gateway.v1}/chat/completions`, ask('x'));
    assert.equal(answer.status, 502, answer.text);
    check_error(answer.json(), { message: /upstream "main".*certificate/ });
    assert.equal(upstream.requests.length, 0);
    assert.equal(connections, 1, 'trying again does not help');
  });

  test('a certificate from ca_file is trusted', async (t) => {
    const ca_file = join(make_folder(t), 'ca.pem');
    writeFileSync(ca_file, certificate.cert);
    const upstream = await start_upstream(t, answer_well, { tls: certificate });
    const gateway = await start_gateway(t, one_upstream(upstream.v1, { upstream: { ca_file } }));
    const { data } = await stream_chat(gateway.url, ask('x'));
    assert.equal(check_stream(data).text, 'hello');
  });

  test('checking can be turned off', async (t) => {
    const upstream = await start_upstream(t, answer_well, { tls: certificate });
    const gateway = await start_gateway(
      t,
      one_upstream(upstream.v1, { upstream: { tls_verify: false } }),
    );
    assert.equal((await post(`${gateway.v1}/chat/completions`, ask('x'))).status, 200);
  });
});

describe('an answer in the other form', () => {
  test('a whole answer to a stream request is streamed', async (t) => {
    const { gateway } = await start(t, [fail_with(200, whole_answer('hello'))]);
    const { data } = await stream_chat(
      gateway.url,
      ask('x', { stream_options: { include_usage: true } }),
    );
    const turn = check_stream(data, { include_usage: true });
    assert.equal(turn.text, 'hello');
    assert.equal(turn.usage.total_tokens, 5);
  });

  test('a stream for a whole request is folded', async (t) => {
    const { chat } = await start(t, [
      fail_with(200, kHead + say('hel') + say('lo') + kEnd, kEventStream),
    ]);
    const whole = check_whole((await post(chat, ask('x'))).json());
    assert.equal(whole.choices[0].message.content, 'hello');
    assert.equal(whole.choices[0].finish_reason, 'stop');
  });
});
