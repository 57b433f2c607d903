// Models without a table of their own, and endpoints that are relayed unread.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { eventually, make_folder, start_gateway } from './harness.mjs';
import { ask, fetch_text, post } from './http.mjs';
import { start_upstream, whole_answer } from './upstream.mjs';

// A server with models. `models` may be changed; an empty one means that it is down.
async function start_server(t, state) {
  return start_upstream(t, (request, response) => {
    if (state.down) return response.writeHead(503).end('{}');
    if (request.url === '/v1/models') {
      const data = state.models.map((id) => ({ id, object: 'model', created: 1_700_000_000 }));
      return response.end(JSON.stringify({ object: 'list', data }));
    }
    if (request.url !== '/v1/chat/completions') {
      const echo = { url: request.url, method: request.method, headers: request.headers, text: request.text };
      return response.writeHead(state.status ?? 200, { 'content-type': 'application/json', 'x-private': '1' }).end(JSON.stringify(echo));
    }
    return response.end(whole_answer(JSON.parse(request.text).model));
  });
}

const list = async (gateway, headers = {}) =>
  (await fetch_text(`${gateway.v1}/models`, { headers })).json().data;
const names = async (...args) => (await list(...args)).map(({ id }) => id);
const said = (answer) => answer.json().choices[0].message.content;

describe('models that an upstream lists', () => {
  test('are served, refreshed, and kept while it is down', async (t) => {
    const state = { models: ['qwen3', 'gemma', 'secret-one'] };
    const server = await start_server(t, state);
    const gateway = await start_gateway(t, {
      upstream: [{ name: 'gpu', url: server.v1, models: ['qwen*', 'gemma'], models_prefix: 'gpu/', models_refresh: '100ms' }],
    });
    await eventually('the list', async () => (await names(gateway)).length === 2);
    const [qwen] = await list(gateway);
    assert.deepEqual([qwen.id, qwen.created, qwen.owned_by], ['gpu/qwen3', 1_700_000_000, 'gpu']);
    const chat = `${gateway.v1}/chat/completions`;
    assert.equal(said(await post(chat, ask('x', { model: 'gpu/qwen3' }))), 'qwen3');
    for (const model of ['qwen3', 'gpu/secret-one', 'gpu/nope'])
      assert.equal((await post(chat, ask('x', { model }))).status, 404, model);
    state.models.push('qwen9');
    await eventually('the new one', async () => (await names(gateway)).includes('gpu/qwen9'));
    state.down = true;
    await eventually('a failed refresh', () => /list of an upstream's models cannot be read/.test(gateway.stderr));
    assert.deepEqual(await names(gateway), ['gpu/qwen3', 'gpu/gemma', 'gpu/qwen9']);
  });

  test('are pooled where several have them, refined by patterns, and shown to keys that may use them', async (t) => {
    const one = await start_server(t, { models: ['qwen3', 'gemma'] });
    const two = await start_server(t, { models: ['qwen3'] });
    const gateway = await start_gateway(t, {
      key: [
        { name: 'all', secret: 'all-12345678' },
        { name: 'few', secret: 'few-12345678', models: ['q*'] },
      ],
      upstream: [
        { name: 'one', url: one.v1, models: ['*'] },
        { name: 'two', url: two.v1, models: ['*'] },
      ],
      model: [
        { name: 'q*', params: { temperature: 0.5 } },
        { name: 'mine', upstream: 'one', id: 'gemma', aliases: ['also-mine'], effort_suffixes: true },
      ],
    });
    const all = { authorization: 'Bearer all-12345678' };
    const few = { authorization: 'Bearer few-12345678' };
    await eventually('both lists', async () => (await names(gateway, all)).includes('qwen3'));
    await eventually('both lists', async () => (await names(gateway, all)).includes('gemma'));
    assert.deepEqual(await names(gateway, few), ['qwen3']);
    assert.ok((await names(gateway, all)).includes('also-mine'));
    const chat = `${gateway.v1}/chat/completions`;
    const chats = ({ requests }) => requests.filter(({ url }) => url.endsWith('/completions'));
    for (let i = 0; i < 4; ++i)
      assert.equal((await post(chat, ask('x', { model: 'qwen3' }), { headers: few })).status, 200);
    assert.equal(chats(one).length, 2);
    assert.equal(chats(two).length, 2);
    assert.equal(JSON.parse(chats(two)[0].text).temperature, 0.5);
    assert.equal((await post(chat, ask('x', { model: 'gemma' }), { headers: few })).status, 403);
    const low = await post(chat, ask('x', { model: 'mine-low', reasoning_effort: 'high' }), { headers: all });
    assert.equal(said(low), 'gemma');
    assert.equal(JSON.parse(chats(one).at(-1).text).reasoning_effort, 'low');
  });
});

test('a pattern serves any name that fits', async (t) => {
  const server = await start_server(t, { models: [] });
  const gateway = await start_gateway(t, {
    upstream: [{ name: 'cloud', url: server.v1 }],
    model: [{ name: 'gpt-*', upstream: 'cloud' }],
  });
  const chat = `${gateway.v1}/chat/completions`;
  assert.equal(said(await post(chat, ask('x', { model: 'gpt-9-turbo' }))), 'gpt-9-turbo');
  assert.equal((await post(chat, ask('x', { model: 'other' }))).status, 404);
  const metrics = (await fetch_text(`${gateway.url}/metrics`)).text;
  assert.match(metrics, /callgate_requests_total\{model="gpt-\*",status="2xx"\} 1/);
});

describe('other endpoints', () => {
  const start = async (t, state = { models: [] }, more = {}) => {
    const server = await start_server(t, state);
    const gateway = await start_gateway(t, {
      key: [{ name: 'k', secret: 'k-12345678', models: ['m', 'embed-*'], admin: true }],
      upstream: [
        { name: 'plain', url: server.v1 },
        { name: 'open', url: server.v1, key: 'upstream-secret', passthrough: true },
      ],
      model: [{ name: 'm', upstream: 'open', id: 'real-m' }],
      store: { url: `sqlite:${join(make_folder(t), 'log.db')}` },
      ...more,
    });
    return { server, gateway, headers: { authorization: 'Bearer k-12345678' } };
  };

  test('are relayed as they came, with the key of the upstream', async (t) => {
    const { gateway, headers } = await start(t);
    const body = '{"model": "embed-1",  "input": ["a"]}';
    const answer = await post(`${gateway.v1}/embeddings?x=1`, body, { headers });
    assert.equal(answer.status, 200, answer.text);
    const echo = answer.json();
    assert.deepEqual([echo.url, echo.method, echo.text], ['/v1/embeddings?x=1', 'POST', body]);
    assert.equal(echo.headers.authorization, 'Bearer upstream-secret');
    assert.equal(answer.headers['x-private'], undefined);
    assert.ok(answer.headers['x-request-id']);
    const get = await fetch_text(`${gateway.v1}/files/abc`, { headers });
    assert.deepEqual([get.json().url, get.json().method], ['/v1/files/abc', 'GET']);
  });

  test('know the models of the gateway', async (t) => {
    const { gateway, headers } = await start(t);
    const known = await post(`${gateway.v1}/moderations`, '{"input":"x","model":"m"}', { headers });
    assert.equal(known.json().text, '{"input":"x","model":"real-m"}');
    const denied = await post(`${gateway.v1}/embeddings`, { model: 'other' }, { headers });
    assert.equal(denied.status, 403, denied.text);
  });

  test('need a key, are logged, and pass failures on', async (t) => {
    const { gateway, headers } = await start(t, { models: [], status: 418 });
    assert.equal((await post(`${gateway.v1}/embeddings`, {})).status, 401);
    const answer = await post(`${gateway.v1}/embeddings`, { model: 'm' }, { headers });
    assert.equal(answer.status, 418);
    const row = await eventually('the row', async () => {
      const page = await fetch_text(`${gateway.v1}/requests`, { headers });
      return page.json().data.find(({ protocol, state }) => protocol === 'passthrough' && state === 'completed');
    });
    assert.deepEqual([row.status, row.model, row.upstream, row.key], [418, 'm', 'open', 'k']);
  });

  test('stay below the upstream', async (t) => {
    const { gateway, headers } = await start(t);
    for (const path of ['/v1/../admin', '/v1/%2e%2e/admin', '/v1//admin', '/v1/a%2f..%2fb'])
      assert.equal((await fetch_text({ host: '127.0.0.1', port: new URL(gateway.url).port, path }, { headers })).status, 404, path);
  });

  test('do not exist without passthrough', async (t) => {
    const server = await start_server(t, { models: [] });
    const gateway = await start_gateway(t, {
      upstream: [{ name: 'plain', url: server.v1 }],
      model: [{ name: 'm', upstream: 'plain' }],
    });
    assert.equal((await post(`${gateway.v1}/embeddings`, { model: 'm' })).status, 404);
    assert.equal((await fetch_text(`${gateway.v1}/chat/completions`)).status, 405);
  });
});
