// What surrounds the gateway is not to be trusted: tools that look into it or leave something behind, operators who take its
// store away, disks that may not grow, clients that choose the ids of others.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { eventually, make_folder, one_upstream, start_gateway, start_mock } from './harness.mjs';
import { ask, fetch_text, post } from './http.mjs';

const kAnswer = '\nrule answer\n  text "done"\n';

// A command tool that /mcp lets us call without a model.
const tool = (name, script, more = {}) => ({ name, kind: 'command', command: ['/bin/sh', '-c', script], description: name, ...more });

async function start_with_tools(t, tools, env = {}) {
  const mock = await start_mock(t, kAnswer);
  return start_gateway(t, { ...one_upstream(mock.v1), tool: tools, mcp: true }, { env });
}

async function call_tool(gateway, name) {
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } };
  const answer = await post(`${gateway.url}/mcp`, body);
  assert.equal(answer.status, 200, answer.text);
  const { result, error } = answer.json();
  return result ? result.content[0].text : error.message;
}

// A process that is gone, or dead and not collected yet.
function is_dead(pid) {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
}

describe('a command tool', () => {
  test('sees neither the environment nor the memory of the gateway', async (t) => {
    const look = `for pid in $(ls /proc | grep '^[0-9]*$'); do
      grep -l callgate /proc/$pid/comm > /dev/null 2>&1 || continue
      echo found; cat /proc/$pid/environ; head -c 1 /proc/$pid/mem; ls /proc/$pid/fd
    done 2> /dev/null; true`;
    const gateway = await start_with_tools(t, [tool('look', look)], { TOP_SECRET_OF_TEST: 'hidden-word' });
    const seen = await call_tool(gateway, 'look');
    assert.match(seen, /found/);
    assert.ok(!seen.includes('hidden-word'), seen);
  });

  test('leaves nothing behind, whether it ends, takes too long or the gateway is killed', async (t) => {
    const folder = make_folder(t);
    // A grandchild in a session of its own, without parent, streams or environment.
    const leave = (file, then) => `env -i setsid sh -c 'echo $$ > ${folder}/${file}; exec sleep 600' < /dev/null > /dev/null 2>&1 &
      while [ ! -s ${folder}/${file} ]; do sleep 0.01; done; ${then}`;
    const gateway = await start_with_tools(t, [
      tool('ends', leave('ends', 'true')),
      tool('hangs', leave('hangs', 'sleep 600'), { timeout: '1s' }),
      tool('stays', leave('stays', 'sleep 600'), { timeout: '1h' }),
    ]);
    const pid = (file) => Number(readFileSync(join(folder, file), 'utf8'));
    for (const name of ['ends', 'hangs']) {
      await call_tool(gateway, name);
      await eventually(`the grandchild of ${name} is dead`, () => is_dead(pid(name)));
    }
    call_tool(gateway, 'stays').catch(() => {});
    await eventually('the tool runs', () => existsSync(join(folder, 'stays')) && pid('stays') > 0);
    assert.ok(!is_dead(pid('stays')));
    await gateway.kill();
    await eventually('it ends with the gateway', () => is_dead(pid('stays')));
  });
});

describe('a store that is taken away', () => {
  const start = async (t, store = {}) => {
    const mock = await start_mock(t, kAnswer);
    const folder = make_folder(t);
    const file = join(folder, 'log.db');
    const journal = join(folder, 'callgate.journal');  // what one gateway leaves behind, the next one in the same folder replays
    const gateway = await start_gateway(t, one_upstream(mock.v1, { store: { url: `sqlite:${file}`, journal, ...store } }));
    const say = () => post(`${gateway.v1}/chat/completions`, ask('hello'));
    const ready = async () => {
      const { status, text } = await fetch_text(`${gateway.url}/readyz`);
      return { ...JSON.parse(text), code: status };
    };
    assert.equal((await say()).status, 200);
    await eventually('the request is in the log', async () => {
      const { text } = await fetch_text(`${gateway.v1}/requests`);
      return JSON.parse(text).data?.[0]?.state === 'completed';
    });
    return { gateway, file, say, ready };
  };
  const kLosses = {
    deleted: (file) => ['', '-wal', '-shm'].forEach((part) => rmSync(file + part, { force: true })),
    truncated: (file) => truncateSync(file, 0),
  };

  for (const [name, lose] of Object.entries(kLosses)) {
    test(`${name}, is reported and begun anew`, async (t) => {
      const { gateway, file, say, ready } = await start(t);
      lose(file);
      await eventually('it is noticed', async () => (await ready()).notice?.includes(name));
      await eventually('there is a new one', async () => (await ready()).store === 'ok');
      const { headers } = await say();
      await eventually('what comes then is in it', async () => {
        const { status } = await fetch_text(`${gateway.v1}/requests/${headers['x-request-id']}`);
        return status === 200 && existsSync(file);
      });
    });

    test(`${name}, stops requests when it must not fail`, async (t) => {
      const { file, say, ready } = await start(t, { when_down: 'closed' });
      lose(file);
      await eventually('it is noticed', async () => (await ready()).code === 503);
      assert.match((await ready()).store_problem, /deleted|emptied|truncated/);
      assert.equal((await say()).status, 503);
    });
  }

  test('is explained to admins only', async (t) => {
    const mock = await start_mock(t, kAnswer);
    const file = join(make_folder(t), 'log.db');
    const key = [
      { name: 'root', secret: 'sk-root-0123456789abcdef', admin: true },
      { name: 'ann', secret: 'sk-ann-0123456789abcdef' },
    ];
    const store = { url: `sqlite:${file}`, journal: '', when_down: 'closed' };
    const gateway = await start_gateway(t, one_upstream(mock.v1, { key, store }));
    const ready = async (name) => {
      const headers = name ? { authorization: `Bearer sk-${name}-0123456789abcdef` } : {};
      return fetch_text(`${gateway.url}/readyz`, { headers });
    };
    await eventually('the file is there', () => existsSync(file));
    kLosses.deleted(file);
    await eventually('it is noticed', async () => /log\.db/.test((await ready('root')).json().store_problem));
    for (const who of [undefined, 'ann', 'nobody']) {
      const { status, text } = await ready(who);
      assert.equal(status, 503);
      assert.doesNotMatch(text, /log\.db|store_problem|notice/, `${who}`);
    }
  });

  test('is for its owner alone', async (t) => {
    const { file } = await start(t);
    for (const part of ['', '-wal', '-shm', '-runs']) assert.equal(statSync(file + part).mode & 0o777, 0o600, part);
  });

  test('and may not grow, does not end the gateway', async (t) => {
    const { gateway, say, ready } = await start(t, { content: true });
    execFileSync('prlimit', ['--pid', String(gateway.pid), '--fsize=300000']);
    await eventually('the disk is full', async () => {
      assert.equal((await say()).status, 200);
      return /full/.test((await ready()).store_problem);
    }, 60_000);
    assert.ok(gateway.running);
  });
});

test('two keys that choose the same id see their own requests', async (t) => {
  const mock = await start_mock(t, '\nrule answer\n  text "the answer"\n');
  const key = ['alice', 'bob', 'carol'].map((name) => ({ name, secret: `sk-${name}-0123456789abcdef`, admin: true }));
  const folder = make_folder(t);
  const store = { url: `sqlite:${join(folder, 'log.db')}`, journal: join(folder, 'callgate.journal'), content: true };
  const gateway = await start_gateway(t, one_upstream(mock.v1, { key, store }));
  const headers = (name) => ({ authorization: `Bearer sk-${name}-0123456789abcdef`, 'x-request-id': 'dup-1' });
  for (const name of ['alice', 'bob'])
    assert.equal((await post(`${gateway.v1}/chat/completions`, ask(`I am ${name}`), { headers: headers(name) })).status, 200);
  const show = async (name, query = '') => {
    const { text } = await fetch_text(`${gateway.v1}/requests/dup-1${query}`, { headers: { authorization: headers(name).authorization } });
    return JSON.parse(text);
  };
  await eventually('both are in the log', async () => {
    const both = await Promise.all(['alice', 'bob'].map((name) => show(name)));  // an admin is shown others' while its own is not there
    return both.every(({ state }) => state === 'completed') && both[0].key === 'alice' && both[1].key === 'bob';
  });
  for (const name of ['alice', 'bob']) {
    const shown = await show(name);
    assert.equal(shown.key, name);
    assert.match(JSON.stringify(shown), new RegExp(`I am ${name}`));
  }
  assert.equal((await show('carol')).key, 'bob');
  assert.equal((await show('carol', '?key=alice')).key, 'alice');
  assert.ok((await show('carol', '?key=carol')).error);
});
