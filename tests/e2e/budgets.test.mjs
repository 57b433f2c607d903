// Budgets of keys over three gateways on one PostgreSQL: streams that run are stopped when the budget is used up, honestly, and
// what was used is counted once.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { Postgres } from './cluster.mjs';
import { eventually, file_scope, make_folder, one_upstream, sleep, start_gateway } from './harness.mjs';
import { ask, ChatStream, fetch_text, post } from './http.mjs';
import { kEnd, kEventStream, kHead, say, start_upstream } from './upstream.mjs';

const kAdmin = 'sk-admin-0123456789abcdef';
const admin = { authorization: `Bearer ${kAdmin}` };
const scope = file_scope();
let upstream;
let postgres;

// A token in each frame, for as long as anybody listens; `short: N` says N of them and how many there were.
async function talk(request, response) {
  const { messages, contents, input } = JSON.parse(request.text);
  const text = JSON.stringify(messages ?? contents ?? input);
  const short = Number(/short: (\d+)/.exec(text)?.[1] ?? 0);
  let open = true;
  response.on('close', () => (open = false));
  response.writeHead(200, kEventStream);
  response.write(kHead);
  for (let said = 0; open && said < (short || 100_000); said += 1) {
    if (!response.write(say(`tok${said % 10} `))) await new Promise((go) => response.once('drain', go));
    if (said % 8 === 7) await sleep(5);
  }
  if (!open) return;
  const usage = { prompt_tokens: 11, completion_tokens: short, total_tokens: 11 + short };
  response.write(`data: ${JSON.stringify({ id: 'up_1', object: 'chat.completion.chunk', created: 1, model: 'up', choices: [], usage })}\n\n`);
  response.end(kEnd);
}

before(async () => {
  upstream = await start_upstream(scope, talk);
  postgres = await Postgres.start(scope);
});

const start_node = (t, more = {}) =>
  start_gateway(
    t,
    one_upstream(upstream.v1, {
      store: { url: postgres.url, journal: join(make_folder(t), 'callgate.journal') },
      key: [{ name: 'root', secret: kAdmin, admin: true }],
      ...more,
    }),
  );
const start_nodes = (t, more) => Promise.all([1, 2, 3].map(() => start_node(t, more)));

async function make_key(nodes, body) {
  const made = await post(`${nodes[0].v1}/keys`, body, { headers: admin });
  assert.equal(made.status, 201, made.text);
  const headers = { authorization: `Bearer ${made.json().secret}` };
  for (const node of nodes)
    await eventually('the key is known', async () => (await fetch_text(`${node.v1}/models`, { headers })).status === 200);
  return headers;
}

describe('a budget over three gateways', () => {
  test('of 10,000 tokens stops 20 streams within 5 % of it', async (t) => {
    const nodes = await start_nodes(t);
    const headers = await make_key(nodes, { name: 'ten-thousand', tokens_per_day: 10_000 });
    const listen = async (i) => {
      const stream = await ChatStream.open(nodes[i % 3].url, ask('go on'), { headers });
      assert.equal(stream.status, 200);
      const data = await stream.data(120_000);
      const frames = data.filter((each) => each !== '[DONE]').map((each) => JSON.parse(each));
      return {
        tokens: frames.filter((frame) => frame.choices?.[0]?.delta?.content).length,
        finished: frames.some((frame) => frame.choices?.[0]?.finish_reason),
        error: frames.find((frame) => frame.error)?.error,
        done: data.includes('[DONE]'),
      };
    };
    const streams = await Promise.all(Array.from({ length: 20 }, (_, i) => listen(i)));
    const said = streams.reduce((sum, { tokens }) => sum + tokens, 0);
    const prompts = 20 * 5;  // at most 5 % of the 5 %: each of the prompts has as many tokens
    t.diagnostic(`${said} tokens came, and about ${prompts} were asked with`);
    assert.ok(said + prompts <= 10_500, `${said} tokens are too many`);
    assert.ok(said + prompts >= 9_500, `${said} tokens are too few`);
    for (const { error, finished } of streams) {
      assert.equal(error?.code, 'insufficient_quota', error?.message);
      assert.match(error.message, /budget of 10000 tokens per day/);
      assert.ok(!finished, 'an answer that was stopped looks complete');
    }
    for (const node of nodes) {
      const refused = () => post(`${node.v1}/chat/completions`, ask('more'), { headers });
      await eventually('every node refuses', async () => (await refused()).status === 429);
      const answer = await refused();
      assert.equal(answer.json().error.code, 'insufficient_quota');
      assert.equal(answer.json().error.type, 'insufficient_quota');
      assert.ok(Number(answer.headers['retry-after']) > 0);
      assert.equal(answer.headers['x-should-retry'], 'false');
    }
    const usage = async () => {
      const answer = await fetch_text(`${nodes[0].v1}/usage?group=key`, { headers });
      return answer.json().data.find(({ key }) => key === 'ten-thousand');
    };
    // A row has its tokens when its request has ended.
    const used = async () => (await usage())?.prompt_tokens + (await usage())?.completion_tokens;
    await eventually('the log has all of them', async () => (await used()) >= 9_500);
    const { prompt_tokens, completion_tokens } = await usage();
    assert.ok(Math.abs(prompt_tokens + completion_tokens - 10_000) <= 500, `${prompt_tokens} + ${completion_tokens}`);
  });

  test('counts what upstreams say, in tokens and money, and shows it to its key', async (t) => {
    const price = [{ model: 'm', input: 1_000_000, output: 2_000_000 }];
    const nodes = await start_nodes(t, { price });
    const headers = await make_key(nodes, { name: 'rich', cost_per_month: 1_000 });
    const answer = await post(`${nodes[0].v1}/chat/completions`, { ...ask('short: 50'), stream: true }, { headers });
    assert.ok(answer.text.includes('[DONE]'));
    const usage = async (who, group) =>
      (await fetch_text(`${nodes[1].v1}/usage?group=${group}`, { headers: who })).json().data;
    // A row has its cost when its request has ended.
    await eventually('the log has it', async () => (await usage(headers, 'key,model'))[0]?.cost > 0);
    const [row] = await usage(headers, 'key,model');
    assert.deepEqual([row.key, row.model, row.cost, row.unpriced_requests], ['rich', 'm', 11 + 2 * 50, 0]);
    assert.ok((await usage(admin, 'key')).some(({ key }) => key === 'rich'));
    // 1000 - 111 are left: 11 and twice 439.
    const second = await ChatStream.open(nodes[2].url, ask('go on'), { headers });
    const data = await second.data(60_000);
    assert.match(data.at(-1) === '[DONE]' ? data.at(-2) : data.at(-1), /budget of 1000 per month/);
    const said = data.filter((each) => each.includes('tok')).length;
    assert.ok(said >= 410 && said <= 460, `${said} tokens`);
    const dear = await make_key(nodes, { name: 'unpriced', cost_per_day: 1, models: ['*'] });
    const other = await start_node(t, { price: [] });
    const known = async () => (await fetch_text(`${other.v1}/models`, { headers: dear })).status === 200;
    await eventually('the key is known', known);
    const refused = await post(`${other.v1}/chat/completions`, ask('hi'), { headers: dear });
    assert.equal(refused.status, 403, refused.text);
    assert.match(refused.json().error.message, /no \[\[price\]\]/);
  });

  test('ends in the error form of every protocol', async (t) => {
    const nodes = await start_nodes(t);
    const message = { role: 'user', content: 'go on' };
    const protocols = {
      responses: ['/v1/responses', { model: 'm', input: 'go on', stream: true }, /"type":"response.failed"|event: error/],
      messages: ['/v1/messages', { model: 'm', max_tokens: 9999, messages: [message], stream: true }, /event: error/],
      gemini: ['/v1beta/models/m:streamGenerateContent?alt=sse', { contents: [{ role: 'user', parts: [{ text: 'go on' }] }] }, /"error"/],
      chat: ['/v1/chat/completions', { model: 'm', messages: [message], stream: true }, /"error"/],
    };
    for (const [name, [path, body, form]] of Object.entries(protocols)) {
      const headers = await make_key(nodes, { name, tokens_per_month: 300 });
      const answer = await post(`${nodes[0].url}${path}`, body, { headers });
      assert.equal(answer.status, 200, answer.text);
      assert.match(answer.text, form, name);
      assert.match(answer.text, /budget of 300 tokens per month/, name);
      assert.doesNotMatch(answer.text, /response\.completed|message_stop|"finishReason"|"finish_reason":"/, name);
      const again = () => post(`${nodes[1].url}${path}`, body, { headers });
      await eventually('the budget is used up', async () => (await again()).status !== 200);
      assert.ok([402, 403, 429].includes((await again()).status), name);
    }
  });

  test('in tokens per minute has its own headers', async (t) => {
    const nodes = await start_nodes(t);
    const headers = await make_key(nodes, { name: 'minute', tokens_per_minute: 600 });
    const url = `${nodes[0].v1}/chat/completions`;
    const first = await post(url, { ...ask('short: 40'), stream: true }, { headers });
    assert.equal(first.headers['x-ratelimit-limit-tokens'], '600');
    assert.ok(Number(first.headers['x-ratelimit-remaining-tokens']) < 600);
    const large = await post(url, ask('long '.repeat(1000)), { headers });
    assert.equal(large.status, 429);
    assert.equal(large.json().error.code, 'request_too_large');
    let refused;
    for (let i = 0; i < 60 && refused?.status !== 429; ++i)
      refused = await post(url, { ...ask('short: 120'), stream: true }, { headers });
    assert.equal(refused.status, 429);
    assert.equal(refused.json().error.code, 'rate_limit_exceeded');
    assert.ok(Number(refused.headers['retry-after-ms']) > 0);
  });
});
