// What docs/metrics.md promises is what a running gateway shows, and the values follow what happens.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually, one_upstream, sleep, start_gateway } from './harness.mjs';
import { ask, ChatStream, fetch_text, post } from './http.mjs';
import { chunk, kEnd, kEventStream, kHead, say, start_upstream } from './upstream.mjs';

async function metrics_of(gateway) {
  const { text, headers } = await fetch_text(`${gateway.url}/metrics`);
  assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
  return text;
}

// The sum of all series of a name whose labels hold all of `labels`.
function value_of(text, name, ...labels) {
  let sum = 0;
  for (const line of text.split('\n')) {
    const match = line.match(/^(\w+)(?:\{(.*)\})? (\S+)$/);
    if (match?.[1] === name && labels.every((label) => match[2]?.includes(label)))
      sum += Number(match[3]);
  }
  return sum;
}

test('a fresh gateway shows every documented metric with its type, and no other', async (t) => {
  const gateway = await start_gateway(t, one_upstream('http://127.0.0.1:1/v1'));
  const page = readFileSync(join(process.env.E2E_SOURCE, 'docs/metrics.md'), 'utf8');
  const wanted = [...page.matchAll(/^\| `(\w+)` \| (\w+) \|.*\| (.+) \|$/gm)].map((row) => row.slice(1));
  const text = await metrics_of(gateway);
  const shown = [...text.matchAll(/^# HELP (\w+) (.+)\n# TYPE \1 (\w+)$/gm)];
  assert.ok(wanted.length > 30);
  assert.deepEqual(
    shown.map(([, name, help, type]) => [name, type, help]),
    wanted,
  );
  const types = new Map(wanted.map(([name, type]) => [name, type]));
  for (const line of text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))) {
    const name = line.match(/^\w+/)[0];
    const family = types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '');
    assert.ok(types.has(family), `${line}: not documented`);
    assert.equal(types.get(family) === 'histogram', family !== name, line);
  }
});

test('values follow calls, gaps, faults and refusals', async (t) => {
  let go_on;
  const upstream = await start_upstream(t, (request, response, turn) => {
    if (turn === 1) return response.writeHead(500).end('{}');
    response.writeHead(200, kEventStream);
    response.write(kHead);
    response.write('data: [1, 2]\n\ndata: nonsense\n\n');
    response.write(say('a'));
    response.write(Buffer.from(say('b?c').replace('?', '\xff'), 'latin1'));
    go_on = () => {
      response.write(say('<tool_call>'));
      response.write(say('{"name": "find", "arguments": {}}</tool_call>'));
      response.end(chunk({}, { finish_reason: 'stop' }) + 'data: [DONE]\n\n');
    };
  });
  const model = { dialect: 'hermes', retries: 0 };
  const gateway = await start_gateway(t, one_upstream(upstream.v1, { model }));
  const tools = [{ type: 'function', function: { name: 'find' } }];
  const stream = await ChatStream.open(gateway.url, ask('hi', { tools }));
  for await (const frame of stream) {
    if (!frame.data?.includes('"content":"b')) continue;
    await sleep(30); // a gap between two frames, however busy the machine is
    go_on?.();
    go_on = undefined;
  }
  const once = (name, ...labels) =>
    eventually(`${name} is 1`, async () => {
      const page = await metrics_of(gateway);
      return value_of(page, name, ...labels) === 1 && page;
    });
  let text = await once('callgate_calls_total', 'dialect="hermes"', 'outcome="complete"');
  assert.equal(value_of(text, 'callgate_repairs_total', 'repair="frame_invalid"'), 2);
  assert.equal(value_of(text, 'callgate_repairs_total', 'repair="utf8_invalid"'), 1);
  assert.ok(value_of(text, 'callgate_inter_frame_seconds_count', 'model="m"') >= 1);
  assert.ok(value_of(text, 'callgate_inter_frame_seconds_sum', 'model="m"') > 0.01);
  assert.equal(value_of(text, 'callgate_held_back_bytes_total', 'dialect="hermes"'), 11);
  assert.equal(value_of(text, 'callgate_upstream_up', 'upstream="main"'), 1);
  await eventually('a line', () => /not JSON request=req_\w+ upstream=main frames=2/.test(gateway.stderr));
  const lines = gateway.stderr.match(/upstream sent frames that are not JSON/g);
  assert.equal(lines?.length, 1, 'one line per stream');

  assert.equal((await post(`${gateway.v1}/chat/completions`, ask('x'))).status, 502);
  assert.equal((await post(`${gateway.v1}/chat/completions`, { model: 'm' })).status, 400);
  text = await once('callgate_errors_total', 'code="upstream_failed"');
  assert.equal(value_of(text, 'callgate_upstream_up', 'upstream="main"'), 0);
  assert.equal(value_of(text, 'callgate_errors_total', 'code="invalid_request"'), 1);
});
