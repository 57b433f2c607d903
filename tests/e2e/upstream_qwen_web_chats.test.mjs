// A thousand conversations with an upstream that keeps them, many at a time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  check_requests,
  check_twins,
  Client,
  hold_conversation,
  hold_twin,
  kChatScript,
  Random,
  read_chats,
} from './chats.mjs';
import { start_gateway, start_mock } from './harness.mjs';

const kConversations = 1000;
const kWorkers = 24;

test('a thousand conversations never fork or lose a turn', async (t) => {
  const mock = await start_mock(t, kChatScript);
  const gateway = await start_gateway(t, {
    upstream: [{ name: 'qwen', wire: 'qwen_web', url: `${mock.url}/api/v2` }],
    model: [{ name: 'm', upstream: 'qwen', dialect: 'generic_xml', retries: 0 }],
  });
  const client = new Client(gateway.url);
  const random = new Random(7);
  let left = kConversations;
  const work = async () => {
    while (left-- > 0) await hold_conversation(client, random);
  };
  await Promise.all(Array.from({ length: kWorkers }, work));
  const twins = new Client(gateway.url);
  await Promise.all(Array.from({ length: 12 }, () => hold_twin(twins, 4)));
  client.close();
  twins.close();
  const chats = await read_chats(mock);
  check_requests(client, chats);
  check_twins(chats, 12, 4);
  const counts = {};
  for (const { how } of client.requests) counts[how] = (counts[how] ?? 0) + 1;
  assert.ok(counts.continued > kConversations && counts.branched > 100, JSON.stringify(counts));
  t.diagnostic(`${client.requests.length} requests: ${JSON.stringify(counts)}`);
});
