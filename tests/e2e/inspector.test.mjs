// The routes behind the inspector's page. The page itself is tested in a browser, in tests/web.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { eventually, one_upstream, start_gateway, start_mock, within } from './harness.mjs';
import { open } from './http.mjs';

const script = `
rule calls
  when tools
  text "I look. <tool_call>{'name': 'find'}</tool_call>"
rule slow
  when user contains "slow"
  pace 30ms
  cut words
  text "one two three four five six"
rule plain
  text "Hello."
`;

// The bytes as they are sent.
async function get_bytes(url, headers = {}) {
  const answer = await open(url, { headers });
  const pieces = [];
  for await (const piece of answer.response) pieces.push(piece);
  return { ...answer, body: Buffer.concat(pieces) };
}

const tools = [{ type: 'function', function: { name: 'find', parameters: { type: 'object' } } }];

function chat(gateway, body = {}, headers = {}) {
  return fetch(`${gateway.v1}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }], ...body }),
  });
}

// Reads a stream of rows until `enough` of them says so.
async function watch(gateway, enough, headers = {}, query = '') {
  const control = new AbortController();
  const response = await fetch(`${gateway.v1}/live${query}`, { headers, signal: control.signal });
  assert.equal(response.status, 200);
  const frames = [];
  const read = (async () => {
    let rest = '';
    for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
      const parts = (rest + text).split('\n\n');
      rest = parts.pop();
      for (const part of parts) {
        const frame = Object.fromEntries(part.split('\n').map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]));
        if (frame.data) frames.push({ ...frame, data: JSON.parse(frame.data) });
      }
      if (enough(frames)) return;
    }
  })();
  return { frames, done: within(20_000, 'rows', read).finally(() => control.abort()) };
}

const ended = (id) => (frames) => frames.some((frame) => frame.data.id === id && frame.data.state !== 'running');

test('serves a page that loads nothing from elsewhere, and JSON to others', async (t) => {
  const mock = await start_mock(t, script);
  const gateway = await start_gateway(t, one_upstream(mock.v1));
  const json = await fetch(gateway.url);
  assert.equal((await json.json()).status, 'ok');
  const page = await fetch(gateway.url, { headers: { accept: 'text/html' } });
  assert.match(page.headers.get('content-type'), /text\/html/);
  const policy = page.headers.get('content-security-policy');
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /require-trusted-types-for 'script'/);
  assert.doesNotMatch(policy, /unsafe|\*|https?:/);
  const text = await page.text();
  assert.doesNotMatch(text, /https?:\/\//);
  const files = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]);
  assert.ok(files.length >= 3 || text.includes('without the inspector'));
  let bytes = 0;
  for (const file of files) {
    const plain = await get_bytes(gateway.url + file);
    const packed = await get_bytes(gateway.url + file, { 'accept-encoding': 'gzip' });
    assert.equal(packed.headers['content-encoding'], 'gzip');
    assert.deepEqual(gunzipSync(packed.body), plain.body);
    assert.notEqual(packed.headers.etag, plain.headers.etag);
    assert.match(packed.headers.etag, /^"/);
    bytes += packed.body.length;
    const again = await get_bytes(gateway.url + file, { 'if-none-match': plain.headers.etag });
    assert.equal(again.status, 304);
  }
  assert.ok(bytes <= 100 * 1024, `${bytes} bytes`);
  assert.equal((await fetch(`${gateway.url}/inspector/none.js`)).status, 404);
});

test('is off where the configuration says so', async (t) => {
  const mock = await start_mock(t, script);
  const gateway = await start_gateway(t, { inspector: false, ...one_upstream(mock.v1) });
  const page = await fetch(gateway.url, { headers: { accept: 'text/html' } });
  assert.match(page.headers.get('content-type'), /json/);
  for (const path of ['/inspector/app.js', '/v1/live', '/v1/live/x', '/v1/inspector', '/v1/config'])
    assert.equal((await fetch(gateway.url + path)).status, 404, path);
});

test('answers admins only', async (t) => {
  const mock = await start_mock(t, script);
  const gateway = await start_gateway(t, {
    ...one_upstream(mock.v1),
    key: [
      { name: 'admin', secret: 'sk-admin-1234567', admin: true },
      { name: 'user', secret: 'sk-user-12345678' },
    ],
  });
  const ask = async (path, secret, options = {}) =>
    (await fetch(gateway.url + path, { ...options, headers: { 'content-type': 'application/json', ...(secret ? { authorization: `Bearer ${secret}` } : {}) } })).status;
  const post = { method: 'POST', body: '{"text":"x"}' };
  for (const [path, options] of [['/v1/inspector'], ['/v1/live'], ['/v1/live/x'], ['/v1/config'], ['/v1/parse', post], ['/v1/replay', post]]) {
    assert.equal(await ask(path, '', options), 401, path);
    assert.equal(await ask(path, 'sk-user-12345678', options), 403, path);
  }
  assert.equal(await ask('/v1/parse', 'sk-admin-1234567', post), 200);
  const config = await (await fetch(`${gateway.v1}/config`, { headers: { authorization: 'Bearer sk-admin-1234567' } })).text();
  assert.doesNotMatch(config, /sk-admin-1234567|sk-user-12345678/);
});

test('tells of turns as they begin, go on and end, and continues after a row', async (t) => {
  const mock = await start_mock(t, script);
  const gateway = await start_gateway(t, one_upstream(mock.v1));
  const first = await watch(gateway, ended('t1'));
  await (await chat(gateway, { messages: [{ role: 'user', content: 'slow' }] }, { 'x-request-id': 't1' })).text();
  await first.done;
  assert.equal(first.frames[0].event, 'hello');
  assert.equal(first.frames[0].data.resumed, false);
  const rows = first.frames.filter((frame) => frame.data.id === 't1');
  assert.ok(rows.some((row) => row.data.state === 'running' && row.data.progress.phase === 'streaming'));
  assert.equal(rows.at(-1).data.state, 'completed');
  assert.equal(rows.at(-1).data.finish_reason, 'stop');
  // What happened while nobody was there is not lost.
  await (await chat(gateway, {}, { 'x-request-id': 't2' })).text();
  const second = await watch(gateway, ended('t2'), { 'last-event-id': rows.at(-1).id });
  await second.done;
  assert.equal(second.frames[0].data.resumed, true);
  assert.ok(!second.frames.some((frame) => frame.data.id === 't1'));
  // A number of an earlier life.
  const third = await watch(gateway, (frames) => frames.length > 0, { 'last-event-id': 'nobody-1' });
  await third.done;
  assert.equal(third.frames[0].data.resumed, false);
});

test('shows the anatomy of a turn that runs, and of one that ended', async (t) => {
  const mock = await start_mock(t, script);
  const gateway = await start_gateway(t, { ...one_upstream(mock.v1, { model: { dialect: 'hermes' } }), store: { url: 'sqlite::memory:' } });
  const live = await watch(gateway, ended('t2'));
  const running = chat(gateway, { messages: [{ role: 'user', content: 'slow' }] }, { 'x-request-id': 't1' });
  const look = async (id) => (await fetch(`${gateway.v1}/live/${id}`)).json();
  const seen = await eventually('a running turn', async () => {
    const turn = await look('t1');
    return turn.state === 'running' && turn.rounds[0].anatomy?.steps.length > 1 && turn;
  });
  assert.equal(seen.attempts[0].upstream, 'main');
  const whole = await (await running).text();
  await (await chat(gateway, { tools }, { 'x-request-id': 't2' })).text();
  await live.done;
  const over = await look('t1');
  assert.equal(over.state, 'completed');
  assert.equal(Buffer.from(over.rounds[0].anatomy.client, 'base64').toString(), whole);
  const { anatomy } = (await look('t2')).rounds[0];
  const pin = anatomy.pins.find((each) => each.kind === 'stayed_text');
  assert.equal(Buffer.from(anatomy.upstream, 'base64').subarray(pin.end, pin.end + 6).toString(), "'name'");
  assert.equal((await fetch(`${gateway.v1}/live/nobody`)).status, 404);
  // Once more, in another dialect.
  const replay = await fetch(`${gateway.v1}/replay`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"request":"t2","dialect":"native"}' });
  const answer = await replay.json();
  assert.equal(answer.dialect, 'native');
  assert.deepEqual(answer.anatomy.pins, []);
});

test('a viewer that reads nothing holds nobody up, and a drain ends it', async (t) => {
  const mock = await start_mock(t, script);
  const gateway = await start_gateway(t, one_upstream(mock.v1));
  const stuck = await fetch(`${gateway.v1}/live`);
  for (let i = 0; i < 50; i++) await (await chat(gateway)).text();
  await gateway.stop();
  await stuck.body.cancel().catch(() => {});
});
