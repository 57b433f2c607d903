// What the gateway makes of requests: paths, methods, bodies, headers.
import assert from 'node:assert/strict';
import http from 'node:http';
import { before, describe, test } from 'node:test';
import { check_error, check_stream, check_whole } from './chat_contract.mjs';
import { eventually, file_scope, one_upstream, start_gateway } from './harness.mjs';
import { ask, fetch_text, post, stream_chat } from './http.mjs';
import { kEnd, kEventStream, kHead, say, start_upstream, whole_answer } from './upstream.mjs';

const scope = file_scope();
let gateway;
let upstream;
let chat;
before(async () => {
  upstream = await start_upstream(scope, (request, response) => {
    if (!JSON.parse(request.text).stream) {
      response.writeHead(200, { 'content-type': 'application/json' });
      return response.end(whole_answer('hello'));
    }
    response.writeHead(200, kEventStream);
    response.end(kHead + say('hel') + say('lo') + kEnd);
  });
  gateway = await start_gateway(
    scope,
    one_upstream(upstream.v1, {
      models: ['m', 'org/large'],
      model: { id: 'real-name' },
      upstream: { key: 'sk-upstream', headers: { 'x-team': 'blue' } },
      limits: { max_body: 100_000 },
    }),
  );
  chat = `${gateway.v1}/chat/completions`;
});

const user = [{ role: 'user', content: 'x' }];
const deep = '['.repeat(200) + ']'.repeat(200);

// body, status, param
const kWrong = [
  ['', 400, null],
  ['{"model": "m", "messages": [', 400, null],
  ['[]', 400, null],
  ['"text"', 400, null],
  [`{"model":"m","messages":${deep}}`, 400, undefined],
  ['{"model":"m","messages":[{"role":"user","content":"\\ud800"}], "x": \xff}', 400, undefined],
  [{ messages: user }, 400, 'model'],
  [{ model: 7, messages: user }, 400, 'model'],
  [{ model: 'm' }, 400, 'messages'],
  [{ model: 'm', messages: [] }, 400, 'messages'],
  [{ model: 'm', messages: {} }, 400, 'messages'],
  [{ model: 'm', messages: ['x'] }, 400, 'messages[0]'],
  [{ model: 'm', messages: [...user, { role: 'robot', content: 'x' }] }, 400, 'messages[1].role'],
  [{ model: 'm', messages: [{ content: 'x' }] }, 400, 'messages[0].role'],
  [{ model: 'm', messages: [{ role: 'user', content: 7 }] }, 400, 'messages[0].content'],
  [
    { model: 'm', messages: [...user, { role: 'tool', content: 'x' }] },
    400,
    'messages[1].tool_call_id',
  ],
  [
    { model: 'm', messages: [{ role: 'assistant', tool_calls: [{ id: 'a' }] }] },
    400,
    'messages[0].tool_calls[0].function',
  ],
  [{ model: 'm', messages: user, tools: {} }, 400, 'tools'],
  [
    { model: 'm', messages: user, tools: [{ type: 'function', function: {} }] },
    400,
    'tools[0].function.name',
  ],
  [{ model: 'm', messages: user, tool_choice: 'sometimes' }, 400, 'tool_choice'],
  [{ model: 'm', messages: user, n: 0 }, 400, 'n'],
  [{ model: 'm', messages: user, n: 1000 }, 400, 'n'],
  [{ model: 'm', messages: user, temperature: 3 }, 400, 'temperature'],
  [{ model: 'm', messages: user, top_p: -1 }, 400, 'top_p'],
  [{ model: 'm', messages: user, presence_penalty: 9 }, 400, 'presence_penalty'],
  [{ model: 'm', messages: user, frequency_penalty: -9 }, 400, 'frequency_penalty'],
  [{ model: 'm', messages: user, max_tokens: 0 }, 400, 'max_tokens'],
  [{ model: 'm', messages: user, stream: 'yes' }, 400, 'stream'],
  [{ model: 'm', messages: user, stream_options: { include_usage: true } }, 400, 'stream_options'],
  [{ model: 'm', messages: user, parallel_tool_calls: 1 }, 400, 'parallel_tool_calls'],
  [{ model: 'nobody', messages: user }, 404, 'model'],
  [{ model: 'm', messages: [{ role: 'user', content: 'x'.repeat(120_000) }] }, 413, null],
];

describe('a wrong request says what is wrong', () => {
  for (const [body, status, param] of kWrong) {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    test(`${text.slice(0, 90)} is answered with ${status}`, async () => {
      const seen = upstream.requests.length;
      const answer = await post(chat, Buffer.from(text, 'latin1'));
      assert.equal(answer.status, status, answer.text);
      assert.match(answer.headers['content-type'], /^application\/json/);
      check_error(answer.json(), { type: 'invalid_request_error', param });
      assert.equal(upstream.requests.length, seen, 'the upstream is not asked');
    });
  }

  test('a body that is cut short names the place', async () => {
    const answer = await post(chat, '{"model": "m",\n "messages": [');
    check_error(answer.json(), { message: /line 2/ });
  });

  test('null stands for not given', async () => {
    const nothing = {
      tools: null,
      tool_choice: null,
      temperature: null,
      stream: null,
      stream_options: null,
      n: null,
    };
    const answer = await post(chat, ask('x', nothing));
    assert.equal(answer.status, 200, answer.text);
  });

  test('a chunked body that grows too large is answered with 413', async () => {
    const request = http.request(chat, {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json' },
    });
    request.on('error', () => {});
    const status = new Promise((resolve) =>
      request.on('response', (response) => resolve(response.resume().statusCode)),
    );
    for (let i = 0; i < 20; ++i) request.write(' '.repeat(10_000));
    request.end('{}');
    assert.equal(await status, 413);
  });
});

describe('paths and methods', () => {
  test('an unknown path lists the known ones', async () => {
    const answer = await fetch_text(`${gateway.url}/v1/nothing`);
    assert.equal(answer.status, 404);
    check_error(answer.json(), { message: /\/v1\/chat\/completions.*\/v1\/models/s });
  });

  test('a wrong method names the right ones', async () => {
    const answer = await fetch_text(chat, { method: 'DELETE' });
    assert.equal(answer.status, 405);
    assert.match(answer.headers.allow, /POST/);
    check_error(answer.json());
    const models = await post(`${gateway.v1}/models`, {});
    assert.equal(models.status, 405);
    assert.match(models.headers.allow, /GET/);
  });

  test('HEAD gives the head of GET and no body', async () => {
    for (const path of ['/v1/models', '/livez', '/readyz', '/healthz', '/metrics', '/']) {
      const get = await fetch_text(gateway.url + path);
      const head = await fetch_text(gateway.url + path, { method: 'HEAD' });
      assert.equal(head.status, get.status, path);
      assert.equal(head.headers['content-type'], get.headers['content-type'], path);
      assert.equal(head.text, '', path);
    }
  });

  test('health, metrics and models answer', async () => {
    for (const path of ['/livez', '/readyz', '/healthz']) {
      const answer = await fetch_text(gateway.url + path);
      assert.equal(answer.status, 200, path);
      assert.equal(typeof answer.json().status, 'string', path);
    }
    const metrics = await fetch_text(`${gateway.url}/metrics`);
    assert.match(metrics.headers['content-type'], /^text\/plain; version=0\.0\.4/);
    assert.match(metrics.text, /^# TYPE callgate_requests_total counter$/m);
    assert.match(metrics.text, /^callgate_build_info\{version="[^"]+"\} 1$/m);
    const models = (await fetch_text(`${gateway.v1}/models`)).json();
    assert.equal(models.object, 'list');
    assert.deepEqual(
      models.data.map((model) => [model.id, model.object]),
      [
        ['m', 'model'],
        ['org/large', 'model'],
      ],
    );
    for (const path of ['org/large', 'org%2Flarge']) {
      assert.equal((await fetch_text(`${gateway.v1}/models/${path}`)).json().id, 'org/large');
    }
    const unknown = await fetch_text(`${gateway.v1}/models/nobody`);
    assert.equal(unknown.status, 404);
    check_error(unknown.json(), { code: 'model_not_found' });
  });

  test('requests are counted by model and status', async () => {
    const count = async () => {
      const { text } = await fetch_text(`${gateway.url}/metrics`);
      return Number(
        text.match(/^callgate_requests_total\{model="org\/large",status="2xx"\} (\d+)$/m)?.[1] ?? 0,
      );
    };
    const before_it = await count();
    await post(chat, ask('x', { model: 'org/large' }));
    await eventually('the request is counted', async () => (await count()) === before_it + 1);
  });
});

describe('headers', () => {
  test('a request id is echoed, and minted when there is none or it is odd', async () => {
    const given = await post(chat, ask('x'), { headers: { 'x-request-id': 'my-id.1' } });
    assert.equal(given.headers['x-request-id'], 'my-id.1');
    const minted = new Set();
    for (const headers of [{}, { 'x-request-id': 'a b' }, { 'x-request-id': 'x'.repeat(1000) }]) {
      const answer = await post(chat, ask('x'), { headers });
      assert.match(answer.headers['x-request-id'], /^[\w.:-]{8,128}$/);
      minted.add(answer.headers['x-request-id']);
    }
    assert.equal(minted.size, 3);
    const refused = await post(chat, '{', { headers: { 'x-request-id': 'my-id.2' } });
    assert.equal(refused.headers['x-request-id'], 'my-id.2');
  });

  test('browsers on this machine may call an open loopback gateway, others may not', async () => {
    const preflight = (origin) =>
      fetch_text(chat, {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization,content-type,x-stainless-os',
        },
      });
    const near = await preflight('http://localhost:3000');
    assert.equal(near.status, 204);
    assert.equal(near.headers['access-control-allow-origin'], 'http://localhost:3000');
    assert.match(near.headers['access-control-allow-methods'], /POST/);
    assert.match(near.headers['access-control-allow-headers'], /x-stainless-os/);
    assert.match(near.headers.vary, /origin/i);
    const far = await preflight('https://evil.example');
    assert.equal(far.headers['access-control-allow-origin'], undefined);
    const answer = await post(chat, ask('x'), { headers: { origin: 'http://127.0.0.1:5173' } });
    assert.equal(answer.headers['access-control-allow-origin'], 'http://127.0.0.1:5173');
  });

  test('a stream is told apart from a cacheable answer', async () => {
    const { headers } = await stream_chat(gateway.url, ask('x'));
    assert.match(headers['content-type'], /^text\/event-stream/);
    assert.match(headers['cache-control'], /no-cache|no-store/);
  });

  test('one connection serves many requests', async (t) => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    t.after(() => agent.destroy());
    const ports = new Set();
    for (let i = 0; i < 5; ++i) {
      const answer = await post(chat, ask('x', { stream: i % 2 === 0 }), { agent });
      assert.equal(answer.status, 200);
      ports.add(answer.response.socket?.localPort ?? answer.request.socket.localPort);
    }
    assert.equal(ports.size, 1);
  });
});

describe('what the upstream is asked', () => {
  test('everything rides along, byte for byte', async () => {
    const messages = String.raw`[{"role":"system","content":"be\u00a0brief"},{"role":"user","content":[{"type":"text","text":"é 🧭"}],"name":"ann"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"n\": 12345678901234567890}"}}]},{"role":"tool","tool_call_id":"c1","content":"ok"}]`;
    const tools = String.raw`[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","properties":{"n":{"type":"integer","maximum":9007199254740993}}},"strict":true}}]`;
    await post(
      chat,
      `{"model":"m","messages":${messages},"tools":${tools},"temperature":0.70,"vendor":{"deep":[1.0,2e3]},"seed":12345678901234567890}`,
    );
    const { text, headers } = upstream.requests.at(-1);
    for (const kept of [
      String.raw`"be\u00a0brief"`,
      '"temperature":0.70',
      '"vendor":{"deep":[1.0,2e3]}',
      '"seed":12345678901234567890',
      '"maximum":9007199254740993',
      '"strict":true',
    ]) {
      assert.ok(text.includes(kept), `${kept} in ${text}`);
    }
    const sent = JSON.parse(text);
    assert.deepEqual(sent.messages, JSON.parse(messages));
    assert.deepEqual(sent.tools, JSON.parse(tools));
    assert.equal(sent.model, 'real-name');
    assert.equal(headers.authorization, 'Bearer sk-upstream');
    assert.equal(headers['x-team'], 'blue');
    assert.equal(upstream.requests.at(-1).url, '/v1/chat/completions');
  });

  test("the caller's own key stays here", async () => {
    await post(chat, ask('x'), {
      headers: { authorization: 'Bearer sk-caller', 'x-api-key': 'sk-caller', cookie: 'a=b' },
    });
    const { headers } = upstream.requests.at(-1);
    assert.ok(!JSON.stringify(headers).includes('sk-caller'));
    assert.equal(headers.cookie, undefined);
  });

  test('the client is told its own name for the model', async () => {
    const whole = check_whole((await post(chat, ask('x'))).json());
    assert.equal(whole.model, 'm');
    assert.equal(whole.choices[0].message.content, 'hello');
    assert.deepEqual(
      [whole.usage.prompt_tokens, whole.usage.completion_tokens, whole.usage.total_tokens],
      [3, 2, 5],
    );
    const { data } = await stream_chat(gateway.url, ask('x'));
    const streamed = check_stream(data);
    assert.equal(streamed.model, 'm');
    assert.equal(streamed.text, 'hello');
  });
});
