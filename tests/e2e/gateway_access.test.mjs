// Keys, limits and who may ask for what.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { check_error } from './chat_contract.mjs';
import { file_scope, one_upstream, start_gateway } from './harness.mjs';
import { ask, ChatStream, fetch_text, post } from './http.mjs';
import { kEnd, kEventStream, kHead, say, start_upstream, whole_answer } from './upstream.mjs';

const scope = file_scope();
const kSecret = 'sk-dev-0123456789abcdefghij';
const kUpstreamSecret = 'sk-upstream-zyxwvutsrqponmlkji';
let gateway;
let chat;
let release;
before(async () => {
  const held = [];
  release = () => held.splice(0).forEach((response) => response.end(kEnd));
  const upstream = await start_upstream(scope, (request, response) => {
    if (request.headers.authorization !== `Bearer ${kUpstreamSecret}`)
      return response.writeHead(401).end();
    if (!JSON.parse(request.text).stream) return response.end(whole_answer('hello'));
    response.writeHead(200, kEventStream);
    response.write(kHead + say('hello'));
    held.push(response);
  });
  gateway = await start_gateway(
    scope,
    {
      ...one_upstream(upstream.v1, {
        models: ['m', 'secret-model'],
        upstream: { key: '${UPSTREAM_SECRET}' },
      }),
      log: { level: 'debug' },
      cors: { origins: ['https://app.example'] },
      key: [
        { name: 'dev', secret: '${DEV_SECRET}', models: ['m'] },
        { name: 'slow', secret: 'sk-slow-abcdefghijklmnop', requests_per_minute: 3 },
        { name: 'narrow', secret: 'sk-narrow-abcdefghijklmn', max_streams: 1 },
      ],
    },
    { env: { DEV_SECRET: kSecret, UPSTREAM_SECRET: kUpstreamSecret } },
  );
  chat = `${gateway.v1}/chat/completions`;
});

const bearer = (key) => ({ authorization: `Bearer ${key}` });

describe('keys', () => {
  const kRefused = [
    ['no key', {}],
    ['an unknown key', bearer('sk-wrong')],
    ['a key with something behind it', bearer(`${kSecret}x`)],
    ['the beginning of a key', bearer(kSecret.slice(0, -1))],
    ['an empty key', bearer('')],
    ['another scheme', { authorization: `Basic ${kSecret}` }],
  ];
  for (const [what, headers] of kRefused) {
    test(`${what} is answered with 401`, async () => {
      for (const answer of [
        await post(chat, ask('x'), { headers }),
        await fetch_text(`${gateway.v1}/models`, { headers }),
      ]) {
        assert.equal(answer.status, 401);
        check_error(answer.json(), { type: 'invalid_request_error', code: 'invalid_api_key' });
        assert.ok(!answer.text.includes(kSecret));
      }
    });
  }

  test('a known key is let in under both header names', async () => {
    assert.equal((await post(chat, ask('x'), { headers: bearer(kSecret) })).status, 200);
    assert.equal((await post(chat, ask('x'), { headers: { 'x-api-key': kSecret } })).status, 200);
  });

  test('health needs no key', async () => {
    for (const path of ['/livez', '/readyz', '/healthz', '/metrics']) {
      assert.equal((await fetch_text(gateway.url + path)).status, 200, path);
    }
  });

  test('a key is kept to its models', async () => {
    const answer = await post(chat, ask('x', { model: 'secret-model' }), {
      headers: bearer(kSecret),
    });
    assert.equal(answer.status, 403);
    check_error(answer.json(), { param: 'model' });
  });

  test('secrets are never logged, listed or echoed', async () => {
    await post(chat, ask('x'), { headers: bearer('sk-someone-elses-secret-key') });
    await post(chat, '{', { headers: bearer(kSecret) });
    const metrics = await fetch_text(`${gateway.url}/metrics`);
    for (const secret of [
      kSecret,
      kUpstreamSecret,
      'sk-someone-elses-secret-key',
      'sk-slow-abcdefghijklmnop',
    ]) {
      assert.ok(!gateway.log.includes(secret), 'in the log');
      assert.ok(!metrics.text.includes(secret), 'in the metrics');
    }
    assert.match(metrics.text, /^callgate_auth_failures_total [1-9]/m);
  });
});

describe('limits', () => {
  test('a key that asks too often is told when to come back', async () => {
    const headers = bearer('sk-slow-abcdefghijklmnop');
    for (let left = 2; left >= 0; --left) {
      const answer = await post(chat, ask('x'), { headers });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers['x-ratelimit-limit-requests'], '3');
      assert.equal(answer.headers['x-ratelimit-remaining-requests'], String(left));
      assert.match(answer.headers['x-ratelimit-reset-requests'], /^(\d+m)?\d+(ms|s)$/);
    }
    const refused = await post(chat, ask('x'), { headers });
    assert.equal(refused.status, 429);
    check_error(refused.json(), { code: 'rate_limit_exceeded' });
    const seconds = Number(refused.headers['retry-after']);
    assert.ok(seconds >= 1 && seconds <= 20, refused.headers['retry-after']);
    const ms = Number(refused.headers['retry-after-ms']);
    assert.ok(ms > 0 && ms <= 20_000, refused.headers['retry-after-ms']);
    assert.equal(refused.headers['x-ratelimit-remaining-requests'], '0');
    assert.equal(
      (await post(chat, ask('x'), { headers: bearer(kSecret) })).status,
      200,
      'other keys go on',
    );
    assert.match(
      (await fetch_text(`${gateway.url}/metrics`)).text,
      /^callgate_rate_limited_total\{key="slow"\} 1$/m,
    );
  });

  test('a key that streams too much at a time is refused until a stream ends', async () => {
    const headers = bearer('sk-narrow-abcdefghijklmn');
    const first = await ChatStream.open(gateway.url, ask('x'), { headers });
    const refused = await post(chat, ask('x', { stream: true }), { headers });
    assert.equal(refused.status, 429);
    assert.match(refused.headers['retry-after'], /^\d+$/);
    release();
    assert.equal((await first.data()).at(-1), '[DONE]');
    assert.equal((await post(chat, ask('x'), { headers })).status, 200);
  });
});

test('configured origins are the only ones', async () => {
  const origin_of = async (origin) =>
    (await fetch_text(`${gateway.url}/livez`, { headers: { origin } })).headers[
      'access-control-allow-origin'
    ];
  assert.equal(await origin_of('https://app.example'), 'https://app.example');
  assert.equal(await origin_of('http://localhost:3000'), undefined);
  assert.equal(await origin_of('https://app.example.evil.example'), undefined);
});

test('without keys the gateway refuses to listen beyond this machine', async (t) => {
  const open = await start_gateway(
    t,
    { ...one_upstream('http://127.0.0.1:9/v1'), listen: '0.0.0.0:0' },
    { wait: false },
  );
  const end = await open.exited();
  assert.notEqual(end.code, 0);
  assert.match(open.stderr, /allow_open|loopback/);
});
