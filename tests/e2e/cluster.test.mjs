// Three gateways behind nginx on one PostgreSQL: conversations go on at any node, through the death of a node, a restart
// of the database and a node that is cut off from it. In the end the upstream's account holds every conversation as its
// client had it, and the log has every request that was answered.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { check_requests, Client, hold_conversation, kChatScript, Random, read_chats } from './chats.mjs';
import { Cable, free_port, Postgres, start_nginx } from './cluster.mjs';
import { eventually, make_folder, sleep, start_gateway, start_mock } from './harness.mjs';
import { fetch_text, post } from './http.mjs';

const soak = process.env.E2E_SOAK === '1';
const kConversations = soak ? 3000 : 150;
const kWorkers = 12;
const kCutOff = soak ? 10_000 : 3_000;

async function start_cluster(t, { key } = {}) {
  const mock = await start_mock(t, kChatScript);
  const postgres = await Postgres.start(t);
  const nodes = [];
  for (let i = 0; i < 3; ++i) {
    const cable = await Cable.lay(t, postgres.port);
    const config = {
      listen: `127.0.0.1:${await free_port()}`,
      store: {
        url: postgres.url.replace(`:${postgres.port}/`, `:${cable.port}/`),
        journal: join(make_folder(t), 'callgate.journal'),
      },
      upstream: [{ name: 'qwen', wire: 'qwen_web', url: `${mock.url}/api/v2` }],
      model: [{ name: 'm', upstream: 'qwen', dialect: 'generic_xml', retries: 0 }],
      ...(key ? { key } : { hosts: ['gateways'] }),  // what nginx calls them
    };
    nodes.push({ cable, config, gateway: await start_gateway(t, config) });
  }
  const ports = nodes.map(({ config }) => Number(config.listen.split(':')[1]));
  return { mock, postgres, nodes, url: await start_nginx(t, ports) };
}

async function hold_conversations(client, count, random) {
  let left = count;
  const work = async () => {
    while (left-- > 0) await hold_conversation(client, random);
  };
  await Promise.all(Array.from({ length: kWorkers }, work));
}

function count_ways(requests) {
  const counts = {};
  for (const { how, seen } of requests) counts[seen ? how : 'failed'] = (counts[seen ? how : 'failed'] ?? 0) + 1;
  return counts;
}

// Every answer that a client got has its row, and the row has ended. `deaths` are when nodes were killed: what a node
// had answered in the moment before may not have been written yet.
async function check_log(postgres, requests, deaths = []) {
  const wanted = requests.filter(
    ({ seen, ended }) => seen && ended && !deaths.some((at) => at - 1000 < ended && ended < at + 1000),
  );
  let missing = wanted;
  const all_there = () => {
    const rows = postgres.query("SELECT id FROM request WHERE state <> 'running'");
    const there = new Set(rows.map(([id]) => id));
    missing = wanted.filter(({ id }) => !there.has(id));
    return missing.length === 0;
  };
  await eventually('all requests are in the log', all_there, 20_000).catch((error) => {
    throw new Error(`${error.message}: ${missing.length} of ${wanted.length} are missing`);
  });
}

describe('three gateways on one PostgreSQL', () => {
  test('continue every conversation on any node', async (t) => {
    const { mock, postgres, url } = await start_cluster(t);
    const client = new Client(url);
    await hold_conversations(client, kConversations, new Random(11));
    client.close();
    check_requests(client, await read_chats(mock));
    const counts = count_ways(client.requests);
    assert.ok(counts.continued > kConversations, JSON.stringify(counts));
    await check_log(postgres, client.requests);
    const hosts = postgres.query('SELECT count(DISTINCT run) FROM request');
    assert.equal(Number(hosts[0][0]), 3, 'every node took part');
    t.diagnostic(`${client.requests.length} requests: ${JSON.stringify(counts)}`);
  });

  test('lose nothing when a node dies, the database restarts and a node is cut off', async (t) => {
    const { mock, postgres, nodes, url } = await start_cluster(t);
    const client = new Client(url, { tries: 60 });
    const random = new Random(12);
    let stopped = false;
    const work = async () => {
      while (!stopped) await hold_conversation(client, random);
    };
    const workers = Promise.all(Array.from({ length: kWorkers }, work));
    const deaths = [];
    const rounds = soak ? 10 : 1;
    for (let round = 0; round < rounds; ++round) {
      const node = nodes[round % 3];
      await sleep(500);
      deaths.push(Date.now());
      await node.gateway.kill();
      await sleep(200);
      node.gateway = await start_gateway(t, node.config);
      await sleep(500);
      await postgres.stop();
      await sleep(300);
      await postgres.start_again();
      await sleep(500);
      const lonely = nodes[(round + 1) % 3];
      lonely.cable.cut();
      await sleep(kCutOff);
      lonely.cable.mend();
      await sleep(500);
    }
    stopped = true;
    await workers;
    client.close();
    check_requests(client, await read_chats(mock), { may_retell: true });
    await check_log(postgres, client.requests, deaths);
    for (const { gateway } of nodes)
      await eventually('every node is ready', async () => (await fetch_text(`${gateway.url}/readyz`)).status === 200);
    t.diagnostic(`${client.requests.length} requests: ${JSON.stringify(count_ways(client.requests))}`);
  });

  test('hold the limits of a key together', async (t) => {
    const limit = 60;
    const key = [{ name: 'dev', secret: 'sk-cluster-0123456789', requests_per_minute: limit }];
    const { url } = await start_cluster(t, { key });
    const headers = { authorization: `Bearer ${key[0].secret}` };
    let allowed = 0;
    for (let i = 0; i < 6 * limit; ++i) {
      const body = { model: 'm', messages: [{ role: 'user', content: `twin ${i}` }] };
      const { status } = await post(`${url}/v1/chat/completions`, body, { headers });
      assert.ok(status === 200 || status === 429, String(status));
      if (status === 200) ++allowed;
    }
    assert.ok(allowed >= limit * 0.9 && allowed <= limit * 1.5, `${allowed} of ${limit}`);
    t.diagnostic(`${allowed} requests were let in, the limit is ${limit}`);
  });
});
