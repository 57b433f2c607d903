// Keys that are made while gateways run: three gateways on one PostgreSQL know of them, and of their end, within a second.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { Postgres } from './cluster.mjs';
import { eventually, file_scope, make_folder, one_upstream, sleep, start_gateway } from './harness.mjs';
import { ask, fetch_text, post } from './http.mjs';
import { start_upstream, whole_answer } from './upstream.mjs';

const kAdmin = 'sk-admin-0123456789abcdef';
const admin = { authorization: `Bearer ${kAdmin}` };
const scope = file_scope();
let release;
const released = new Promise((resolve) => (release = resolve));
let upstream;
let postgres;
before(async () => {
  upstream = await start_upstream(scope, async (request, response) => {
    if (request.text.includes('slow')) await released;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(whole_answer('hello'));
  });
  postgres = await Postgres.start(scope);
});

const config = (t, url, more = {}) =>
  one_upstream(upstream.v1, {
    store: { url, journal: join(make_folder(t), 'callgate.journal') },
    key: [{ name: 'root', secret: kAdmin, admin: true }],
    limits: { wrong_keys_per_minute: 0 },
    ...more,
  });
const start_nodes = (t) =>
  Promise.all([1, 2, 3].map(() => start_gateway(t, config(t, postgres.url))));

async function status_with(node, secret) {
  const headers = { authorization: `Bearer ${secret}` };
  return (await post(`${node.v1}/chat/completions`, ask('hi'), { headers })).status;
}
const on_all = (nodes, secret, status) =>
  eventually(`every node says ${status}`, async () => {
    const got = await Promise.all(nodes.map((node) => status_with(node, secret)));
    return got.every((each) => each === status);
  });

async function make_key(node, body) {
  const made = await post(`${node.v1}/keys`, body, { headers: admin });
  assert.equal(made.status, 201, made.text);
  return made.json();
}

describe('keys of the store', () => {
  test('are known to every node, and gone from every node within a second', async (t) => {
    const nodes = await start_nodes(t);
    const { secret } = await make_key(nodes[0], { name: 'dev', owner: 'ann' });
    await on_all(nodes, secret, 200);
    // Asked without pause: what counts is the last time that any node let the key in.
    let over = false;
    let last_let_in = 0;
    const hammer = async (node) => {
      while (!over) {
        if ((await status_with(node, secret)) === 200) last_let_in = performance.now();
        await sleep(5);
      }
    };
    const hammers = nodes.map(hammer);
    const revoked = await fetch_text(`${nodes[1].v1}/keys/dev`, { method: 'DELETE', headers: admin });
    const at = performance.now();
    assert.equal(revoked.status, 200, revoked.text);
    await on_all(nodes, secret, 401);
    await sleep(300);
    over = true;
    await Promise.all(hammers);
    assert.ok(last_let_in - at < 1000, `still let in ${last_let_in - at} ms later`);
    t.diagnostic(`last let in ${(last_let_in - at).toFixed(0)} ms after the answer to the revocation`);
    for (const node of nodes) assert.equal(await status_with(node, secret), 401);
  });

  test('change their secret, with a time of grace', async (t) => {
    const nodes = await start_nodes(t);
    const { secret } = await make_key(nodes[0], { name: 'turning' });
    await on_all(nodes, secret, 200);
    const rotate = async (body) => {
      const answer = await post(`${nodes[0].v1}/keys/turning/rotate`, body, { headers: admin });
      assert.equal(answer.status, 200, answer.text);
      return answer.json().secret;
    };
    const second = await rotate({ grace_seconds: 3600 });
    await on_all(nodes, second, 200);
    await on_all(nodes, secret, 200);
    const third = await rotate({});
    await on_all(nodes, third, 200);
    await on_all(nodes, second, 401);
    await on_all(nodes, secret, 401);
  });

  test('are listed without their secrets, and only for admins', async (t) => {
    const [node] = await start_nodes(t);
    const { secret } = await make_key(node, { name: 'plain', models: ['m'], max_streams: 2 });
    const list = await fetch_text(`${node.v1}/keys`, { headers: admin });
    assert.ok(!list.text.includes(secret) && !list.text.includes('hash'));
    const keys = Object.fromEntries(list.json().data.map((key) => [key.name, key]));
    assert.equal(keys.root.source, 'file');
    assert.equal(keys.plain.source, 'store');
    assert.equal(keys.plain.max_streams, 2);
    await on_all([node], secret, 200);
    const headers = { authorization: `Bearer ${secret}` };
    for (const method of ['GET', 'POST'])
      assert.equal((await fetch_text(`${node.v1}/keys`, { method, headers })).status, 403);
    const taken = async (name) => (await post(`${node.v1}/keys`, { name }, { headers: admin })).status;
    assert.equal(await taken('plain'), 409);
    assert.equal(await taken('root'), 409);
  });

  test('need no key in the file, and work with SQLite and the command', async (t) => {
    const url = `sqlite:${join(make_folder(t), 'callgate.db')}`;
    const key = async (...words) =>
      (await promisify(execFile)(process.env.CALLGATE, ['key', ...words, '--url', url])).stdout.trim();
    const gateway = await start_gateway(t, config(t, url, { key: [], require_key: true }));
    await on_all([gateway], 'cg-nobody', 401);
    const secret = await key('new', 'dev', '--admin');
    await on_all([gateway], secret, 200);
    const headers = { authorization: `Bearer ${secret}` };
    assert.equal((await fetch_text(`${gateway.v1}/keys`, { headers })).status, 200);
    await key('revoke', 'dev');
    await on_all([gateway], secret, 401);
  });
});

describe('addresses', () => {
  test('have limits on an open gateway', async (t) => {
    const open_gateway = (limits) => start_gateway(t, one_upstream(upstream.v1, { limits }));
    const few = await open_gateway({ address_requests_per_minute: 3 });
    const statuses = [];
    let last;
    for (let i = 0; i < 4; ++i) statuses.push((last = await post(`${few.v1}/chat/completions`, ask('hi'))).status);
    assert.deepEqual(statuses, [200, 200, 200, 429]);
    assert.match(last.json().error.message, /address of this client/);
    assert.equal(last.headers['x-ratelimit-limit-requests'], '3');
    assert.ok(Number(last.headers['retry-after']) > 0);
    assert.equal((await fetch_text(`${few.v1}/models`)).status, 200, 'only turns count');

    const one = await open_gateway({ address_streams: 1 });
    const running = post(`${one.v1}/chat/completions`, ask('slow'));
    await eventually('the first one runs', () => upstream.requests.some(({ text }) => text.includes('slow')));
    const second = await post(`${one.v1}/chat/completions`, ask('hi'));
    assert.equal(second.status, 429);
    assert.equal(second.json().error.code, 'too_many_streams');
    release();
    assert.equal((await running).status, 200);
    await eventually('its place is free', async () => (await post(`${one.v1}/chat/completions`, ask('hi'))).status === 200);
  });
});
