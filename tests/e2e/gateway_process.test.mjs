// The gateway as a process: signals, listeners, start and end.
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { check_error, check_stream } from './chat_contract.mjs';
import { eventually, make_folder, one_upstream, Program, start_gateway } from './harness.mjs';
import { ask, ChatStream, fetch_text, post, stream_chat } from './http.mjs';
import { kEnd, kEventStream, kHead, say, start_upstream } from './upstream.mjs';

// An upstream whose streams end when the test says so.
async function start_held(t) {
  const held = [];
  const upstream = await start_upstream(t, (_, response) => {
    response.writeHead(200, kEventStream);
    response.write(kHead + say('begun'));
    held.push(response);
  });
  return {
    upstream,
    release: () => held.splice(0).forEach((response) => response.end(say(', ended') + kEnd)),
  };
}

const models_of = async (gateway) =>
  (await fetch_text(`${gateway.v1}/models`)).json().data.map((model) => model.id);

describe('SIGTERM', () => {
  test('lets open streams finish, refuses new ones, and ends with 0', async (t) => {
    const { upstream, release } = await start_held(t);
    const gateway = await start_gateway(t, one_upstream(upstream.v1));
    const stream = await ChatStream.open(gateway.url, ask('x'));
    gateway.signal('SIGTERM');
    await eventually(
      'readyz says 503',
      async () => (await fetch_text(`${gateway.url}/readyz`)).status === 503,
    );
    assert.equal((await fetch_text(`${gateway.url}/livez`)).status, 200);
    const refused = await post(`${gateway.v1}/chat/completions`, ask('x'));
    assert.equal(refused.status, 503);
    check_error(refused.json());
    assert.match(refused.headers['retry-after'], /^\d+$/);
    assert.ok(gateway.running);
    release();
    assert.equal(check_stream(await stream.data()).text, 'begun, ended');
    assert.deepEqual(await gateway.exited(), { code: 0, signal: null });
  });

  test('does not wait longer than drain_timeout', async (t) => {
    const { upstream } = await start_held(t);
    const gateway = await start_gateway(
      t,
      one_upstream(upstream.v1, { limits: { drain_timeout: '300ms' } }),
    );
    const stream = await ChatStream.open(gateway.url, ask('x'));
    stream.response.on('error', () => {});
    const began = performance.now();
    gateway.signal('SIGTERM');
    assert.equal((await gateway.exited(5_000)).code, 0);
    assert.ok(performance.now() - began > 250);
  });

  test('twice means now', async (t) => {
    const { upstream } = await start_held(t);
    const gateway = await start_gateway(t, one_upstream(upstream.v1));
    const stream = await ChatStream.open(gateway.url, ask('x'));
    stream.response.on('error', () => {});
    gateway.signal('SIGTERM');
    await eventually(
      'readyz says 503',
      async () => (await fetch_text(`${gateway.url}/readyz`)).status === 503,
    );
    gateway.signal('SIGTERM');
    assert.equal((await gateway.exited(3_000)).signal, null);
  });

  test('idle keep-alive connections do not hold it up', async (t) => {
    const { upstream } = await start_held(t);
    const gateway = await start_gateway(t, one_upstream(upstream.v1));
    await (await fetch(`${gateway.url}/livez`)).text();
    const began = performance.now();
    gateway.signal('SIGTERM');
    assert.equal((await gateway.exited()).code, 0);
    assert.ok(performance.now() - began < 2_000);
  });
});

describe('SIGHUP', () => {
  test('puts a good file in force without touching open streams', async (t) => {
    const { upstream, release } = await start_held(t);
    const gateway = await start_gateway(t, one_upstream(upstream.v1));
    const stream = await ChatStream.open(gateway.url, ask('x'));
    const { model, ...rest } = gateway.config;
    gateway.write({ ...rest, model: [{ ...model[0], name: 'new' }] });
    gateway.signal('SIGHUP');
    await eventually('the new model is there', async () =>
      (await models_of(gateway)).includes('new'),
    );
    assert.deepEqual(await models_of(gateway), ['new']);
    await eventually('the old model is gone on every loop', async () => {
      const statuses = await Promise.all(
        Array.from({ length: 16 }, () =>
          post(`${gateway.v1}/chat/completions`, ask('x', { messages: [], model: 'm' })),
        ),
      );
      return statuses.every((answer) => answer.status === 400 || answer.status === 404);
    });
    release();
    assert.equal(check_stream(await stream.data()).text, 'begun, ended');
    const metrics = await fetch_text(`${gateway.url}/metrics`);
    assert.match(metrics.text, /^callgate_config_reloads_total\{result="ok"\} 1$/m);
  });

  test('changes nothing when the file is bad, and says where', async (t) => {
    const { upstream } = await start_held(t);
    const gateway = await start_gateway(t, one_upstream(upstream.v1));
    const bad = [
      ['listen = "127.0.0.1:0"\n[limits]\nmax_bodi = 5\n', /max_bodi/],
      ['listen = [[[', /callgate\.toml/],
      [{ ...gateway.config, model: [{ name: 'm', upstream: 'nobody' }] }, /nobody/],
      [{ ...gateway.config, upstream: [{ name: 'main', url: 'not a url' }] }, /url/i],
    ];
    for (const [text, said] of bad) {
      const before_it = gateway.log.length;
      gateway.write(text);
      gateway.signal('SIGHUP');
      await eventually('the mistake is reported', () => said.test(gateway.log.slice(before_it)));
      assert.deepEqual(await models_of(gateway), ['m']);
    }
    const metrics = await fetch_text(`${gateway.url}/metrics`);
    assert.match(
      metrics.text,
      new RegExp(`^callgate_config_reloads_total\\{result="failed"\\} ${bad.length}$`, 'm'),
    );
  });

  test('keys come and go', async (t) => {
    const { upstream } = await start_held(t);
    const key = (secret) => [{ name: 'k', secret }];
    const gateway = await start_gateway(t, {
      ...one_upstream(upstream.v1),
      key: key('sk-first-key-000000'),
    });
    const status = async (secret) =>
      (await fetch_text(`${gateway.v1}/models`, { headers: { authorization: `Bearer ${secret}` } }))
        .status;
    assert.equal(await status('sk-first-key-000000'), 200);
    gateway.write({ ...gateway.config, key: key('sk-second-key-00000') });
    gateway.signal('SIGHUP');
    await eventually(
      'the second key works',
      async () => (await status('sk-second-key-00000')) === 200,
    );
    await eventually(
      'the first key does not',
      async () => (await status('sk-first-key-000000')) === 401,
    );
  });
});

describe('listeners', () => {
  test('a unix socket beside a port', async (t) => {
    const { upstream, release } = await start_held(t);
    const path = join(make_folder(t), 'gate.sock');
    const gateway = await start_gateway(t, {
      ...one_upstream(upstream.v1),
      listen: ['127.0.0.1:0', `unix:${path}`],
    });
    assert.equal((await fetch_text({ socketPath: path, path: '/livez' })).status, 200);
    const stream = await ChatStream.open({ socketPath: path }, ask('x'));
    release();
    assert.equal(check_stream(await stream.data()).text, 'begun, ended');
    assert.equal((await fetch_text(`${gateway.url}/livez`)).status, 200);

    await gateway.kill();
    assert.ok(existsSync(path), 'a killed gateway leaves its socket behind');
    const again = await start_gateway(t, { ...one_upstream(upstream.v1), listen: `unix:${path}` });
    assert.equal((await fetch_text({ socketPath: path, path: '/livez' })).status, 200);
    await again.stop();
    assert.ok(!existsSync(path), 'a stopped gateway does not');
  });

  test('a port that is taken is an error, not a crash', async (t) => {
    const { upstream } = await start_held(t);
    const gateway = await start_gateway(t, one_upstream(upstream.v1));
    const second = await start_gateway(
      t,
      { ...one_upstream(upstream.v1), listen: new URL(gateway.url).host },
      { wait: false },
    );
    const end = await second.exited();
    assert.ok(end.code > 0 && end.code < 126, JSON.stringify(end));
    assert.match(second.stderr, /in use|listen/i);
  });
});

describe('the command line', () => {
  async function outcome(t, args, env) {
    const program = new Program(t, args, env);
    return { ...(await program.exited()), program };
  }

  test('a file with a mistake is refused with its place and the nearest key', async (t) => {
    const file = join(make_folder(t), 'bad.toml');
    writeFileSync(
      file,
      'listen = "127.0.0.1:0"\n\n[[upstream]]\nname = "a"\nurll = "http://x/v1"\n',
    );
    for (const args of [
      ['serve', '--config', file],
      ['config', 'check', file],
    ]) {
      const { code, program } = await outcome(t, args);
      assert.ok(code > 0 && code < 126, `${code}`);
      assert.match(program.stderr, /bad\.toml:5/);
      assert.match(program.stderr, /urll/);
      assert.match(program.stderr, /"?url"?/);
    }
  });

  test('config check prints what is in force, secrets masked', async (t) => {
    const file = join(make_folder(t), 'good.toml');
    writeFileSync(
      file,
      'listen = "127.0.0.1:0"\n[[key]]\nname = "dev"\nsecret = "${KEY_SECRET}"\n[[upstream]]\nname = "a"\nurl = "http://x/v1"\nkey = "sk-upstream-abcdefgh"\n[[model]]\nname = "m"\nupstream = "a"\n',
    );
    const { code, program } = await outcome(t, ['config', 'check', file], {
      KEY_SECRET: 'sk-very-secret-0123456789',
    });
    assert.equal(code, 0, program.stderr);
    assert.match(program.stdout, /\nok\n$/);
    assert.doesNotMatch(program.stdout, /requests_per_minute/, 'it has its default');
    const all = await outcome(t, ['config', 'check', '--all', file], { KEY_SECRET: 'sk-very-secret-0123456789' });
    assert.match(all.program.stdout, /requests_per_minute/);
    assert.ok(!all.program.log.includes('sk-very-secret-0123456789'));
    assert.ok(!program.log.includes('sk-very-secret-0123456789'));
    assert.ok(!program.log.includes('sk-upstream-abcdefgh'));
  });

  test('--demo answers without any configuration', async (t) => {
    const demo = await new Program(t, [
      'serve',
      '--demo',
      '--listen',
      '127.0.0.1:0',
      '--set',
      'store.url=none',
    ]).ready();
    const [model] = await models_of(demo);
    const tools = [
      {
        type: 'function',
        function: {
          name: 'find',
          parameters: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] },
        },
      },
    ];
    const turn = check_stream(
      (await stream_chat(demo.url, ask('please find tea', { model, tools }))).data,
    );
    assert.equal(turn.finish_reason, 'tool_calls');
    assert.equal(turn.calls[0].name, 'find');
    assert.equal(typeof JSON.parse(turn.calls[0].arguments).q, 'string');

    const lines = [...demo.stdout.matchAll(/^curl -N \S+(\/v1\/\S+) .* -d '(.*)'$/gm)];
    const printed = lines.filter(([, path]) => path.endsWith('completions')).map(([, , body]) => body);
    assert.equal(printed.length, 2);
    const [[, path, asked]] = lines.filter(([, each]) => each === '/v1/responses');
    const responses = await post(demo.url + path, JSON.parse(asked));
    assert.match(responses.text, /event: response\.completed\n/);
    assert.match(responses.text, /"type":"function_call"[^}]*"name":"get_weather"/);
    const [called, looped] = await Promise.all(
      printed.map(async (body) => check_stream((await stream_chat(demo.url, JSON.parse(body))).data)),
    );
    assert.equal(called.finish_reason, 'tool_calls');
    assert.equal(looped.finish_reason, 'stop');
    assert.match(looped.text, /demo_clock says: {"utc":"20/);
  });
});
