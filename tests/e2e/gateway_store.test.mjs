// The request log: what was answered is what is recorded, and what was recorded survives a kill.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { check_stream } from './chat_contract.mjs';
import { eventually, make_folder, one_upstream, start_gateway, start_mock } from './harness.mjs';
import { ask, ChatStream, fetch_text, post, stream_chat } from './http.mjs';

// Rows as another process sees them: what is committed.
function rows_of(file) {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return database.prepare('SELECT * FROM request ORDER BY seq').all();
  } finally {
    database.close();
  }
}

const find_row = (file, id) => rows_of(file).find((row) => row.id === id);

async function recorded(file, id) {
  return eventually(`request ${id} is recorded`, () => {
    const row = find_row(file, id);
    return row && row.state !== 'running' ? row : undefined;
  });
}

const kScript = `
rule tools
  when user contains "tools"
  text "Let me look."
  call f {"a": 1}
  call g {"b": 2}
  usage prompt=20 completion=9 cached=4 reasoning=3
rule refuse
  when user contains "refuse"
  status 400 {"error": {"message": "not today", "type": "invalid_request_error", "param": null, "code": null}}
rule break
  when user contains "break"
  text "half a"
  abort
rule rough
  when user contains "rough"
  fault no_id no_index finish=stop
  call f {"a": 1}
rule slow
  when user contains "slow"
  pace 20ms
  repeat 2000 {
    text "word "
  }
rule quick
  text "done"
  usage prompt=1 completion=1
`;

async function start(t) {
  const folder = make_folder(t);
  const file = join(folder, 'log.db');
  const mock = await start_mock(t, kScript);
  const config = one_upstream(mock.v1, {
    model: { retries: 0, dialect: 'native' },
    store: { url: `sqlite:${file}` },
  });
  return { file, config, gateway: await start_gateway(t, config) };
}

describe('a row tells what the client got', () => {
  test('a tool turn, stream and whole', async (t) => {
    const { file, gateway } = await start(t);
    const streamed = await stream_chat(
      gateway.url,
      ask('tools', { stream_options: { include_usage: true } }),
    );
    const turn = check_stream(streamed.data, { include_usage: true });
    const whole = await post(`${gateway.v1}/chat/completions`, ask('tools'));
    for (const [answer, stream] of [
      [streamed, 1],
      [whole, 0],
    ]) {
      const row = await recorded(file, answer.headers['x-request-id']);
      assert.equal(row.state, 'completed');
      assert.deepEqual(
        [row.model, row.upstream, row.dialect, row.protocol, row.stream],
        ['m', 'main', 'native', 'openai_chat', stream],
      );
      assert.deepEqual(
        [row.http_status, row.finish_reason, row.calls, row.attempts],
        [200, turn.finish_reason, turn.calls.length, 1],
      );
      assert.deepEqual(
        [
          row.prompt_tokens,
          row.completion_tokens,
          row.total_tokens,
          row.cached_tokens,
          row.reasoning_tokens,
        ],
        [20, 9, 29, 4, 3],
      );
      assert.ok(Math.abs(row.received_at - Date.now()) < 60_000);
      assert.ok(row.total_ms >= row.first_byte_ms);
    }
  });

  const kEnds = [
    ['refuse', { state: 'failed', http_status: 400 }],
    ['break', { state: 'failed', http_status: 200 }],
    ['rough', { state: 'completed', finish_reason: 'tool_calls', calls: 1 }],
  ];
  for (const [what, wanted] of kEnds) {
    test(`one that ends with ${what}`, async (t) => {
      const { file, gateway } = await start(t);
      const stream = await ChatStream.open(gateway.url, ask(what));
      await stream.response.resume();
      const row = await recorded(file, stream.headers['x-request-id']);
      for (const [field, value] of Object.entries(wanted))
        assert.equal(row[field], value, `${field} of ${JSON.stringify(row)}`);
      if (what === 'refuse') assert.match(row.error_message, /not today/);
      if (what === 'rough') assert.ok(row.repairs >= 3);
    });
  }

  test('a client that leaves', async (t) => {
    const { file, gateway } = await start(t);
    const stream = await ChatStream.open(gateway.url, ask('slow'));
    stream.leave();
    assert.equal((await recorded(file, stream.headers['x-request-id'])).state, 'disconnected');
  });

  test('requests with the same id are all recorded', async (t) => {
    const { file, gateway } = await start(t);
    for (let i = 0; i < 3; ++i)
      await post(`${gateway.v1}/chat/completions`, ask('quick'), {
        headers: { 'x-request-id': 'again' },
      });
    await eventually(
      'three rows',
      () => rows_of(file).filter((row) => row.state === 'completed').length === 3,
    );
    assert.match(
      (await fetch_text(`${gateway.url}/metrics`)).text,
      /^callgate_store_dropped_total 0$/m,
    );
  });
});

describe('kill -9', () => {
  test('in the middle of 200 streams loses nothing that was recorded', async (t) => {
    const { file, config, gateway } = await start(t);
    const chat = `${gateway.v1}/chat/completions`;
    for (let i = 0; i < 20; ++i) await post(chat, ask('tools'));
    const streams = await Promise.all(
      Array.from({ length: 200 }, () => ChatStream.open(gateway.url, ask('slow'))),
    );
    for (const stream of streams) stream.response.on('error', () => {}).resume();
    const is_running = (row) => row.state === 'running';
    await eventually(
      'all streams are recorded',
      () => rows_of(file).filter(is_running).length === 200,
    );

    // Quick ones keep the writer busy while the process dies.
    let dead = false;
    const busy = Promise.all(
      Array.from({ length: 8 }, async () => {
        while (!dead) await post(chat, ask('quick')).catch(() => {});
      }),
    );
    await eventually('the writer is busy', () => rows_of(file).length > 260);
    const before_it = rows_of(file);
    const end = await gateway.kill();
    dead = true;
    await busy;
    assert.equal(end.signal, 'SIGKILL');

    const again = await start_gateway(t, config);
    assert.equal((await fetch_text(`${again.url}/readyz`)).json().store, 'ok');
    const after_it = new Map(rows_of(file).map((row) => [row.id, row]));
    for (const row of before_it) {
      const now = after_it.get(row.id);
      assert.ok(now, `${row.id} is there`);
      if (is_running(row)) assert.ok(['interrupted', 'completed'].includes(now.state), now.state);
      else assert.deepEqual(now, row, 'a finished row stays as it was');
    }
    for (const stream of streams)
      assert.equal(after_it.get(stream.headers['x-request-id']).state, 'interrupted');
    assert.ok([...after_it.values()].every((row) => !is_running(row)));

    const answer = await post(`${again.v1}/chat/completions`, ask('quick'));
    assert.equal((await recorded(file, answer.headers['x-request-id'])).state, 'completed');
  });
});

describe('a file that cannot be used', () => {
  async function stopped_gateway(t) {
    const { file, config, gateway } = await start(t);
    for (let i = 0; i < 50; ++i) await post(`${gateway.v1}/chat/completions`, ask('quick'));
    await gateway.stop();
    return { file, config };
  }

  test('is set aside when it is ours but damaged', async (t) => {
    const { file, config } = await stopped_gateway(t);
    const bytes = readFileSync(file);
    bytes.fill(0xa5, 4096);
    writeFileSync(file, bytes);
    const gateway = await start_gateway(t, config);
    const answer = await post(`${gateway.v1}/chat/completions`, ask('quick'));
    assert.equal(answer.status, 200);
    await recorded(file, answer.headers['x-request-id']);
    assert.ok(readdirSync(dirname(file)).some((name) => name.startsWith('log.db.corrupt-')));
  });

  test('is left alone when it is not ours', async (t) => {
    const { file, config } = await stopped_gateway(t);
    for (const name of readdirSync(dirname(file))) rmSync(join(dirname(file), name));
    const text = 'These are notes, not a database.\n'.repeat(200);
    writeFileSync(file, text);
    const gateway = await start_gateway(t, config, { wait: false });
    assert.ok((await gateway.exited()).code > 0);
    assert.match(gateway.stderr, /log\.db/);
    assert.equal(readFileSync(file, 'utf8'), text);
  });
});
