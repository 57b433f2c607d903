// Every route that there is, as a page in a browser would ask for it: from another origin, under a name that was pointed at this
// machine, and as a WebSocket. Routes come from /openapi.json, so a new one is tried as well.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { file_scope, one_upstream, start_gateway, start_mock } from './harness.mjs';
import { fetch_text } from './http.mjs';

const kOpen = ['/', '/livez', '/readyz', '/healthz', '/openapi.json', '/inspector/{id}', '/api/version', '/api/ps', '/metrics'];
const kEvil = { origin: 'https://evil.example', 'content-type': 'application/json' };

const scope = file_scope();
let gateway;
let routes;
before(async () => {
  const mock = await start_mock(scope, 'text "Hello."\n');
  const config = one_upstream(mock.v1, { upstream: { passthrough: true } });
  gateway = await start_gateway(scope, { ...config, mcp: true, tool: [{ name: 'clock', kind: 'builtin', builtin: 'time' }] });
  const { paths } = (await fetch_text(`${gateway.url}/openapi.json`)).json();
  routes = Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => [method.toUpperCase(), path]));
  routes.push(['POST', '/v1/embeddings'], ['POST', '/v1/audio/speech'], ['GET', '/v1/files'], ['DELETE', '/v1/files/x']);
});

// Bodies of any type pass through these.
const kRelayed = ['/v1/embeddings', '/v1/audio/speech'];
const guarded = () => routes.filter(([, path]) => !kOpen.includes(path));
const ask = (method, path, headers, ms) =>
  fetch_text(gateway.url + path.replace(/\{[^}]+\}/g, 'x'), { method, headers, body: method === 'POST' ? '{}' : undefined, ms });

async function statuses(headers) {
  const found = [];
  for (const [method, path] of guarded()) {
    const { status } = await ask(method, path, headers);
    if (status !== 403) found.push(`${method} ${path}: ${status}`);
  }
  return found;
}

describe('no route answers', () => {
  test('so many are tried', () => assert.ok(guarded().length > 50, `${guarded().length}`));
  test('a page of another origin', async () => assert.deepEqual(await statuses(kEvil), []));
  test('a page without an origin', async () => assert.deepEqual(await statuses({ origin: 'null' }), []));
  test('what a browser calls cross-site', async () =>
    assert.deepEqual(await statuses({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }), []));
  test('a name that was pointed at this machine', async () => assert.deepEqual(await statuses({ host: 'evil.example:8080' }), []));
  test('a WebSocket of another origin', async () => {
    const upgrade = { ...kEvil, connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };
    delete upgrade['content-type'];
    for (const path of ['/v1/responses', '/v1/rooms/x']) assert.equal((await ask('GET', path, upgrade)).status, 403, path);
  });
});

test('a form that passes for JSON is read by no route', async () => {
  const found = [];
  for (const [method, path] of guarded()) {
    if (method !== 'POST' || kRelayed.includes(path)) continue;
    if (path.startsWith('/v1/relay/')) continue; // those ask for their own key first
    for (const type of ['text/plain', 'multipart/form-data; boundary=x', 'application/x-www-form-urlencoded']) {
      const { status } = await ask(method, path, { 'content-type': type, 'sec-fetch-site': 'same-site', origin: 'http://localhost:3000' });
      if (status !== 415) found.push(`${path} ${type}: ${status}`);
    }
  }
  assert.deepEqual(found, []);
});
