// "Why is this text?": from the metric to the log, the reason, the dialect, and what the upstream sent.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually, make_folder, one_upstream, Program, start_gateway } from './harness.mjs';
import { ask, fetch_text, post, stream_chat } from './http.mjs';
import { kEnd, kEventStream, kHead, say, start_upstream, whole_answer } from './upstream.mjs';

const kSecret = 'sk-upstream-0123456789';
const kTools = [{ type: 'function', function: { name: 'get_weather', parameters: {} } }];
const kBroken = `<tool_call>\n{'name': 'get_weather', 'key': '${kSecret}'}\n</tool_call>`;
const kReason = `hermes: opener at byte 0, gave up at byte 13: expected '"', found "'"`;
const kCall = '<tool_call>\n{"name": "get_weather", "arguments": {}}\n</tool_call>';

async function run(t, ...args) {
  const program = new Program(t, args);
  const { code } = await program.exited();
  return { code, stdout: program.stdout, stderr: program.stderr };
}

async function start(t) {
  const upstream = await start_upstream(t, (request, response) => {
    const body = JSON.parse(request.text);
    const asked = body.messages.at(-1).content;
    const text = { broken: kBroken, call: kCall, prose: 'It is sunny.' }[asked];
    if (asked === 'abort') {
      response.writeHead(200, kEventStream);
      response.write(kHead + say('half a'));
      return setTimeout(() => response.destroy(), 50);
    }
    if (!body.stream) return response.end(whole_answer(text));
    response.writeHead(200, kEventStream);
    response.end(kHead + say(text.slice(0, 9)) + say(text.slice(9)) + kEnd);
  });
  const folder = make_folder(t);
  const gateway = await start_gateway(
    t,
    one_upstream(upstream.v1, {
      upstream: { key: kSecret },
      store: { url: `sqlite:${join(folder, 'log.db')}` },
      log: { level: 'debug' },
    }),
  );
  const logged = (id) =>
    eventually(`${id} in the log`, async () => {
      const answer = await fetch_text(`${gateway.v1}/requests/${id}`);
      return answer.status === 200 && answer.json().state !== 'running' && answer.json();
    });
  return { folder, gateway, logged };
}

const chat = (gateway) => `${gateway.v1}/chat/completions`;
const with_tools = (word) => ask(word, { tools: kTools });

test('a missed call is counted, found, explained and replayed', async (t) => {
  const { folder, gateway, logged } = await start(t);
  await stream_chat(gateway.url, with_tools('prose'));
  const answer = await stream_chat(gateway.url, with_tools('broken'));
  const id = answer.headers['x-request-id'];
  assert.equal(answer.headers['x-callgate-dialect'], 'auto');

  const request = await logged(id);
  assert.equal(request.missed_call, 'hermes');
  const metrics = (await fetch_text(`${gateway.url}/metrics`)).text;
  assert.match(metrics, /callgate_missed_calls_total\{model="m",dialect="hermes"\} 1\n/);
  assert.ok(gateway.log.includes('markup stayed text'), gateway.log);

  const search = await run(t, 'log', 'search', '--url', gateway.url, '--missed-call', 'true');
  assert.match(search.stdout, new RegExp(`^\\S+ \\S+ +${id} .*missed call: hermes\n$`));
  const shown = await run(t, 'log', 'show', id, '--url', gateway.url);
  assert.ok(shown.stdout.includes(`why this is text\n  ${kReason}\n`), shown.stdout);

  const captured = await run(t, 'log', 'capture', id, '--url', gateway.url);
  assert.equal(captured.code, 0, captured.stderr);
  assert.ok(!captured.stdout.includes(kSecret));
  const file = join(folder, 'turn.capture.jsonl');
  writeFileSync(file, captured.stdout);
  const replayed = await run(t, 'replay', file, '--explain', '--emit', 'events');
  assert.match(replayed.stdout, /^text "<tool_call>/);
  assert.equal(replayed.stderr, `${kReason}\n`);
});

test('what the upstream sent in a turn that failed or was not streamed is replayed', async (t) => {
  const { folder, gateway, logged } = await start(t);
  const whole = await post(chat(gateway), with_tools('broken'));
  const failed = await stream_chat(gateway.url, with_tools('abort'));
  const file = join(folder, 'turn.capture.jsonl');
  const replay = async (answer) => {
    const id = answer.headers['x-request-id'];
    await logged(id);
    const captured = await run(t, 'log', 'capture', id, '--url', gateway.url);
    assert.equal(captured.code, 0, captured.stderr);
    assert.ok(!captured.stdout.includes('"content":"broken"'), 'messages are not kept');
    writeFileSync(file, captured.stdout);
    return run(t, 'replay', file);
  };
  const again = await replay(whole);
  assert.equal(again.code, 0, again.stderr);
  const { content } = whole.json().choices[0].message;
  assert.equal(JSON.parse(again.stdout).choices[0].message.content.length, content.length);
  assert.match((await replay(failed)).stdout, /half a[^]*error/);
});

test('nothing is kept of a turn that went well', async (t) => {
  const { gateway, logged } = await start(t);
  const answer = await post(chat(gateway), with_tools('prose'));
  const id = answer.headers['x-request-id'];
  assert.equal((await logged(id)).missed_call, null);
  const captured = await run(t, 'log', 'capture', id, '--url', gateway.url);
  assert.equal(captured.code, 1);
  assert.match(captured.stderr, /no capture of "req_\w+" in memory/);
});

test('what auto settled on is in the head of a whole answer and in the log', async (t) => {
  const { gateway, logged } = await start(t);
  const answer = await post(chat(gateway), with_tools('call'));
  assert.equal(answer.json().choices[0].finish_reason, 'tool_calls');
  assert.equal(answer.headers['x-callgate-dialect'], 'hermes');
  const request = await logged(answer.headers['x-request-id']);
  assert.equal(request.dialect, 'hermes');
  assert.equal(request.repair_names, 'markup_in_text');
});

test('parse explains and tries all dialects', async (t) => {
  const folder = make_folder(t);
  const text = join(folder, 'answer.txt');
  const tools = join(folder, 'tools.json');
  writeFileSync(tools, JSON.stringify(kTools));
  writeFileSync(text, kBroken);
  const explained = await run(t, 'parse', '--dialect', 'hermes', '--explain', text);
  assert.equal(explained.stderr, `${kReason}\n`);
  const [piece] = JSON.parse(explained.stdout).explain;
  assert.deepEqual([piece.dialect, piece.begin, piece.end], ['hermes', 0, 13]);

  const none = await run(t, 'parse', '--dialect', 'all', '--tools', tools, text);
  assert.match(none.stdout, /^no dialect finds a call\nclose\n/);
  assert.ok(none.stdout.includes(`  ${kReason}\n`), none.stdout);
  writeFileSync(text, kCall);
  const some = await run(t, 'parse', '--dialect', 'all', '--tools', tools, text);
  assert.match(some.stdout, /^calls\n/);
  assert.match(some.stdout, /^ {2}hermes +get_weather$/m);
});
