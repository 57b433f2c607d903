// A gateway whose PostgreSQL restarts, becomes read-only, runs out of disk, stalls, fails over to a standby, or has another idea of the time, all under
// load. Requests are answered through it, /readyz says what is wrong, and in the end every answer is in the log once.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Cable, free_port, Postgres } from './cluster.mjs';
import { defer, eventually, make_folder, sleep, start_gateway, start_mock } from './harness.mjs';
import { ask, fetch_text, post } from './http.mjs';

const kScript = `
rule rest
  text "An answer."
`;
const kWorkers = 6;

async function start(t, { env = {}, folder } = {}) {
  const postgres = await Postgres.start(t, { folder });
  const cable = await Cable.lay(t, postgres.port);
  const gateway = await start_on(t, postgres.url.replace(`:${postgres.port}/`, `:${cable.port}/`), env);
  return { postgres, cable, gateway };
}

async function start_on(t, url, env = {}) {
  const mock = await start_mock(t, kScript);
  const config = {
    listen: `127.0.0.1:${await free_port()}`,
    store: {
      url,
      journal: join(make_folder(t), 'callgate.journal'),
      connect_timeout: '1s',
      statement_timeout: '1s',
    },
    upstream: [{ name: 'main', url: `${mock.url}/v1` }],
    model: [{ name: 'm', upstream: 'main' }],
  };
  return start_gateway(t, config, { env });
}

class Load {
  answered = [];
  #stopped = false;
  #workers;

  constructor(url) {
    const work = async () => {
      while (!this.#stopped) {
        const answer = await post(`${url}/v1/chat/completions`, ask('hello', { model: 'm' }));
        assert.equal(answer.status, 200, answer.text);
        this.answered.push(answer.headers['x-request-id']);
        await sleep(2);
      }
    };
    this.#workers = Promise.all(Array.from({ length: kWorkers }, work));
    this.#workers.catch(() => (this.#stopped = true));
  }

  async stop() {
    this.#stopped = true;
    await this.#workers;
  }
}

const ready = async (gateway) => JSON.parse((await fetch_text(`${gateway.url}/readyz`)).text);
const is_troubled = async (gateway) => (await ready(gateway)).store !== 'ok';
const is_well = async (gateway) => {
  const { store, store_journal_bytes } = await ready(gateway);
  return store === 'ok' && store_journal_bytes === 0;
};

async function check_log(t, postgres, load) {
  const count = () => postgres.query("SELECT id, count(*) FROM request WHERE state = 'completed' GROUP BY id");
  let rows = [];
  await eventually('every answer is in the log', () => {
    rows = new Map(count());
    return load.answered.every((id) => rows.has(id));
  }, 30_000);
  for (const id of load.answered) assert.equal(rows.get(id), '1', id);
  t.diagnostic(`${load.answered.length} answers, each once in the log`);
}

// Troubles the store under load, mends it, and looks for every answer.
async function go_through(t, { postgres, gateway }, trouble, mend) {
  const load = new Load(gateway.url);
  await eventually('some answers', () => load.answered.length > 50);
  await trouble();
  await eventually('the trouble is reported', () => is_troubled(gateway), 20_000);
  const before = load.answered.length;
  await eventually('answers in spite of it', () => load.answered.length > before + 100, 20_000);
  await mend();
  await eventually('all is well again', () => is_well(gateway), 60_000);
  await load.stop();
  await eventually('nothing waits', () => is_well(gateway), 60_000);
  await check_log(t, postgres, load);
}

describe('PostgreSQL under load', () => {
  test('restarts', async (t) => {
    const world = await start(t);
    await go_through(t, world, () => world.postgres.stop(), () => world.postgres.start_again());
  });

  test('becomes read-only', async (t) => {
    const world = await start(t);
    const set = (value) => {
      world.postgres.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
      world.postgres.query('SELECT pg_reload_conf()');
    };
    await go_through(t, world, () => set('on'), () => set('off'));
  });

  test('stalls without a word', async (t) => {
    const world = await start(t);
    await go_through(t, world, () => world.cable.cut(), () => world.cable.mend());
  });

  test('dies, and its standby is promoted', async (t) => {
    const primary = await Postgres.start(t);
    const standby = await primary.start_standby(t);
    const hosts = `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`;
    const gateway = await start_on(t, `postgresql://callgate@${hosts}/postgres?target_session_attrs=read-write`);
    await go_through(t, { postgres: standby, gateway }, () => primary.stop('SIGQUIT'), () => standby.promote());
  });

  test('runs out of disk', async (t) => {
    if (process.getuid() !== 0) return t.skip('mounting a small tmpfs takes root');
    const folder = make_folder(t);
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=192m', 'tmpfs', folder], { stdio: 'ignore' });
    } catch {
      return t.skip('a tmpfs cannot be mounted here');
    }
    defer(t, () => execFileSync('umount', ['-l', folder]));
    const world = await start(t, { folder });
    const ballast = join(folder, 'ballast');
    const fill = () => {
      try {
        execFileSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=64k'], { stdio: 'ignore' });
      } catch {
        // full, as it should be
      }
    };
    const mend = async () => {
      execFileSync('rm', ['-f', ballast]);
      await world.postgres.stop();
      await world.postgres.start_again();
    };
    await go_through(t, world, fill, mend);
  });

  test('keeps another time than its gateways', async (t) => {
    const library = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';
    if (!existsSync(library)) return t.skip('libfaketime is not installed');
    const ahead = { LD_PRELOAD: library, FAKETIME: '+3h', FAKETIME_DONT_FAKE_MONOTONIC: '1' };
    const { postgres, gateway } = await start(t, { env: ahead });
    const mock = await start_mock(t, kScript);
    const behind = await start_gateway(
      t,
      {
        listen: `127.0.0.1:${await free_port()}`,
        store: { url: postgres.url },
        upstream: [{ name: 'main', url: `${mock.url}/v1` }],
        model: [{ name: 'm', upstream: 'main' }],
      },
      { env: { ...ahead, FAKETIME: '-3h' } },
    );
    const loads = [new Load(gateway.url), new Load(behind.url)];
    await sleep(3000);
    for (const load of loads) await load.stop();
    for (const load of loads) await check_log(t, postgres, load);
    const living = postgres.query('SELECT count(*) FROM run WHERE ended_at IS NULL');
    assert.equal(living[0][0], '2', 'neither takes the other for dead');
    // libfaketime does not let every timed wait of a program end: these are not asked to end well.
    await gateway.kill();
    await behind.kill();
  });
});
