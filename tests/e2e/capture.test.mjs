// Captures: what passed is in the file, secrets are not, and a replay gives the same bytes.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { check_stream } from './chat_contract.mjs';
import {
  eventually,
  make_folder,
  one_upstream,
  Program,
  start_gateway,
  start_mock,
} from './harness.mjs';
import { ask, ChatStream, fetch_text, post, stream_chat } from './http.mjs';

const kUpstreamKey = 'sk-upstream-0123456789';
const kAdminKey = 'sk-admin-0123456789';
const kUserKey = 'sk-user-0123456789';
const kHeaderSecret = 'gate-0123456789';

const kScript = `
rule tools
  when user contains "tools"
  text "I was told ${kUpstreamKey}. Let me look."
  call f {"city": "Zürich"}
  usage prompt=20 completion=9
rule loop_call
  when user contains "loop"
  when turn 0
  text "Let me look."
  call f {} id=c1
rule loop_answer
  when user contains "loop"
  text "found"
rule think
  when user contains "think"
  reasoning "Hm, what now."
  text "I know."
rule refuse
  when user contains "refuse"
  status 400 {"error": {"message": "not with ${kUpstreamKey}", "type": "invalid_request_error", "param": null, "code": null}}
rule break
  when user contains "break"
  text "half a"
  abort
rule slow
  when user contains "slow"
  pace 20ms
  repeat 2000 {
    text "word "
  }
rule long
  when user contains "long"
  repeat 500 {
    text "word "
  }
rule quick
  text "done"
`;

async function start(t, more = {}) {
  const dir = join(make_folder(t), 'captures');
  const mock = await start_mock(t, kScript);
  const gateway = await start_gateway(
    t,
    one_upstream(mock.v1, {
      models: ['m', 'traced-m'],
      upstream: { key: kUpstreamKey, headers: { 'x-gate': kHeaderSecret } },
      model: { retries: 0, ...more.model },
      key: [
        { name: 'admin', secret: kAdminKey, admin: true },
        { name: 'user', secret: kUserKey },
      ],
      capture: { dir, models: ['traced-*'], ...more.capture },
      ...more.more,
    }),
  );
  return { dir, gateway };
}

const as = (key, more = {}) => ({ headers: { authorization: `Bearer ${key}`, ...more } });
const asked = (more = {}) => as(kAdminKey, { 'x-callgate-capture': '1', ...more });

// The capture of an answer: its file, text and lines.
async function capture_of(dir, answer) {
  const id = answer.headers['x-callgate-capture'];
  assert.equal(id, answer.headers['x-request-id']);
  const file = join(dir, `${id}.capture.jsonl`);
  await eventually(`${file} is written`, () => existsSync(file));
  const text = readFileSync(file, 'utf8');
  const lines = text.trimEnd().split('\n').map((line) => JSON.parse(line));
  const bytes = (direction) =>
    Buffer.concat(
      lines
        .filter((line) => line.dir === direction)
        .map(({ data = '', base64 }) => Buffer.from(base64 ?? data, base64 ? 'base64' : 'utf8')),
    ).toString();
  return { file, text, lines, bytes, head: lines[0], end: lines.at(-1) };
}

async function replay(t, ...args) {
  const program = new Program(t, ['replay', ...args]);
  const { code } = await program.exited();
  return { code, out: program.stdout, err: program.stderr };
}

async function assert_replays(t, file, ...args) {
  const checked = await replay(t, file, '--check', ...args);
  assert.equal(checked.code, 0, checked.out + checked.err);
  assert.match(checked.out, /^the same \d+ bytes$/m);
}

function assert_no_secret(text) {
  for (const secret of [kUpstreamKey, kAdminKey, kUserKey, kHeaderSecret])
    assert.ok(!text.includes(secret), `${secret} is in the capture`);
}

describe('a captured request', () => {
  test('holds a streamed call, replays to the same bytes and shows no secret', async (t) => {
    const { dir, gateway } = await start(t);
    const answer = await stream_chat(
      gateway.url,
      ask(`tools, my key is ${kUserKey}`, {
        tools: [{ type: 'function', function: { name: 'f' } }],
        stream_options: { include_usage: true },
      }),
      asked({ 'x-callgate-timing': '1', cookie: 'session=abcdef', 'x-note': kUpstreamKey }),
    );
    const turn = check_stream(answer.data, { include_usage: true });
    assert.equal(turn.calls.length, 1);
    const { file, text, lines, bytes, head, end } = await capture_of(dir, answer);
    assert.deepEqual(end, { end: 'completed', truncated: false });
    assert.equal(head.capture, 1);
    assert.deepEqual([head.model, head.pipeline.wire], ['m', 'openai_chat']);
    assert.equal(statSync(file).mode & 0o777, 0o600);

    assert_no_secret(text);
    assert.ok(!text.includes('session=abcdef'));
    assert.match(bytes('client_in'), /my key is \*+"/);
    assert.match(bytes('upstream_out'), /my key is \*+"/);
    assert.match(bytes('upstream_in'), /"f"/);
    assert.equal(
      bytes('client_out').replaceAll('*'.repeat(kUpstreamKey.length), kUpstreamKey),
      answer.data.map((data) => `data: ${data}\n\n`).join(''),
    );
    const times = lines.slice(1, -1).map((line) => line.t);
    assert.deepEqual(times, [...times].sort((a, b) => a - b));

    await assert_replays(t, file);
    for (const split of ['whole', 'byte', '7', 'random:1'])
      await assert_replays(t, file, '--split', split);
    assert.equal((await replay(t, file)).out, bytes('client_out'));
    assert.match((await replay(t, file, '--emit', 'events')).out, /^call 0 f/m);
    const changed = await replay(t, file, '--set', 'output=xml', '--check');
    assert.equal(changed.code, 1);
    assert.match(changed.out, /first difference is at byte \d+/);
    assert.equal((await replay(t, join(dir, 'nowhere'))).code, 2);
  });

  const kEnds = [
    ['think', 'completed', { stream: true }],
    ['tools', 'completed', {}],
    ['refuse', 'failed', { stream: true }],
    ['break', 'failed', { stream: true }],
    ['break', 'failed', {}],
  ];
  for (const [what, end, more] of kEnds) {
    test(`that says ${what}, ${more.stream ? 'streamed' : 'whole'}, replays`, async (t) => {
      const { dir, gateway } = await start(t, { model: { reasoning_coalesce: '1ms' } });
      const answer = await post(`${gateway.v1}/chat/completions`, ask(what, more), asked());
      const capture = await capture_of(dir, answer);
      assert.equal(capture.end.end, end);
      assert_no_secret(capture.text);
      const stars = '*'.repeat(kUpstreamKey.length);
      assert.equal(capture.bytes('client_out').replaceAll(stars, kUpstreamKey), answer.text);
      await assert_replays(t, capture.file);
    });
  }

  test('that its client leaves is written all the same', async (t) => {
    const { dir, gateway } = await start(t);
    const stream = await ChatStream.open(gateway.url, ask('slow'), asked());
    for await (const _ of stream) if (stream.frames.length > 5) break;
    stream.leave();
    const { file, end } = await capture_of(dir, stream);
    assert.equal(end.end, 'disconnected');
    await assert_replays(t, file);
  });

  test('that outlives the gateway is interrupted', async (t) => {
    const { dir, gateway } = await start(t);
    const stream = await ChatStream.open(gateway.url, ask('slow'), asked());
    stream.response.on('error', () => {}).resume();
    gateway.signal('SIGTERM');
    await eventually('it drains', () => gateway.log.includes('draining'));
    gateway.signal('SIGTERM');
    assert.equal((await gateway.exited()).code, 0);
    const { file, end } = await capture_of(dir, stream);
    assert.equal(end.end, 'interrupted');
    await assert_replays(t, file);
  });

  test('that is too long is marked as truncated and its stream goes on', async (t) => {
    const { dir, gateway } = await start(t, { capture: { max_bytes: '8KiB' } });
    const answer = await stream_chat(gateway.url, ask('long'), asked());
    check_stream(answer.data);
    const { file, end, text } = await capture_of(dir, answer);
    assert.deepEqual(end, { end: 'completed', truncated: true });
    assert.ok(text.length < 32 * 1024);
    await assert_replays(t, file);
  });
});

test('of a tool loop every round is captured, and replays', async (t) => {
  const { dir, gateway } = await start(t, {
    model: { loop: true },
    more: { tool: [{ name: 'f', kind: 'builtin', builtin: 'time', description: 'f' }] },
  });
  for (const stream of [true, false]) {
    const answer = await post(`${gateway.v1}/chat/completions`, ask('loop', { stream }), asked());
    assert.match(answer.text, /found/);
    const { file, lines, bytes, end, text } = await capture_of(dir, answer);
    assert_no_secret(text);
    assert.equal(end.end, 'completed');
    assert.equal(bytes('client_out'), answer.text);
    assert.equal(lines.filter((line) => line.round).length, 2);
    assert.match(bytes('upstream_out'), /"tool_call_id":"c1"/);
    const events = async (...args) => (await replay(t, file, '--emit', 'events', ...args)).out;
    assert.match(await events('--round', '1'), /^text "Let me look\."\ncall 0 f/);
    assert.match(await events('--round', '2'), /^text "found"/);
    assert.equal(await events('--split', 'byte'), await events('--round', '2'));
    const checked = await replay(t, file, '--check');
    assert.equal(checked.code, 2);
    assert.match(checked.err, /2 rounds and of tools/);
    assert.equal((await replay(t, file, '--round', '3')).code, 2);
  }
});

describe('who may capture', () => {
  test('an admin key by header, a configured model always, nobody else', async (t) => {
    const { dir, gateway } = await start(t, { capture: { max_files: 2 } });
    const chat = `${gateway.v1}/chat/completions`;
    const refused = await post(chat, ask('quick'), as(kUserKey, { 'x-callgate-capture': '1' }));
    assert.equal(refused.status, 403);
    assert.match(refused.json().error.message, /x-callgate-capture/);
    const plain = await post(chat, ask('quick'), as(kAdminKey));
    assert.equal(plain.status, 200);
    assert.equal(plain.headers['x-callgate-capture'], undefined);
    for (let i = 0; i < 4; ++i) {
      const answer = await post(chat, ask('quick', { model: 'traced-m' }), as(kUserKey));
      await capture_of(dir, answer);
    }
    assert.equal(readdirSync(dir).length, 2, 'the oldest are gone, others were not captured');
    await eventually('all are counted', async () =>
      /^callgate_captures_total\{result="written"\} 4$/m.test(
        (await fetch_text(`${gateway.url}/metrics`)).text,
      ),
    );
  });

  test('anyone on an open loopback gateway, if there is a folder', async (t) => {
    const mock = await start_mock(t, kScript);
    const gateway = await start_gateway(t, one_upstream(mock.v1));
    const answer = await post(`${gateway.v1}/chat/completions`, ask('quick'), {
      headers: { 'x-callgate-capture': '1' },
    });
    assert.equal(answer.status, 400);
    assert.match(answer.json().error.message, /capture\.dir/);
  });
});

test('a capture becomes a golden case', async (t) => {
  const { dir, gateway } = await start(t);
  const answer = await post(
    `${gateway.v1}/chat/completions`,
    ask('tools, in private', {
      stream: true,
      tools: [{ type: 'function', function: { name: 'f' } }],
    }),
    asked(),
  );
  const { file, bytes } = await capture_of(dir, answer);
  const golden = join(make_folder(t), 'golden');
  const made = await replay(t, file, '--golden', golden, '--name', 'weather');
  assert.equal(made.code, 0, made.err);
  const read = (suffix) => readFileSync(join(golden, `weather${suffix}`), 'utf8');
  const answers = ['.openai_chat.json', '.openai_chat.sse', '.summary'];
  assert.deepEqual(
    readdirSync(golden).sort(),
    [...answers, '.policy', '.request.json', '.sse'].map((suffix) => `weather${suffix}`).sort(),
  );
  assert.equal(read('.sse'), bytes('upstream_in'));
  assert.match(read('.openai_chat.sse'), /"id":"chatcmpl-golden"/);
  assert.match(read('.summary'), /^calls 1$/m);
  assert.doesNotMatch(read('.request.json'), /private/);
  // The case is made of its own files: the same again.
  const again = await replay(
    t,
    ...[join(golden, 'weather.sse'), '--request', join(golden, 'weather.request.json')],
    ...['--dialect', 'auto', '--golden', join(golden, 'again'), '--name', 'weather'],
  );
  assert.equal(again.code, 0, again.err);
  for (const suffix of answers)
    assert.equal(readFileSync(join(golden, 'again', `weather${suffix}`), 'utf8'), read(suffix));
});
