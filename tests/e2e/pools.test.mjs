// Pools of upstreams: who is asked, who is left out, and when it is taken back.
import assert from 'node:assert/strict';
import http from 'node:http';
import { describe, test } from 'node:test';
import { make_certificate } from './certificate.mjs';
import { check_error } from './chat_contract.mjs';
import { eventually, sleep, start_gateway } from './harness.mjs';
import { ask, fetch_text, post } from './http.mjs';
import { kEnd, kEventStream, kHead, say, start_upstream, whole_answer } from './upstream.mjs';

const answer_as = (text) => (request, response) => {
  if (!JSON.parse(request.text).stream) return response.end(whole_answer(text));
  response.writeHead(200, kEventStream);
  return response.end(kHead + say(text) + kEnd);
};
const fail_with =
  (status, body = {}, headers = {}) =>
  (_, response) =>
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify({ error: { message: 'no', type: 'x_error', param: null, code: null, ...body } }));
const hang = () => {};
const refuse = (request) => request.socket.resetAndDestroy();

// One upstream per answer, in one process; `answers` may be changed while it runs.
async function start_pool(t, answers, { upstream = {}, model = {}, tls = {}, ...rest } = {}) {
  const servers = {};
  for (const name of Object.keys(answers)) {
    servers[name] = await start_upstream(t, (...args) => answers[name](...args), { tls: tls[name] });
  }
  const gateway = await start_gateway(t, {
    upstream: Object.entries(servers).map(([name, { v1 }]) => ({ name, url: v1, ...upstream })),
    model: [{ name: 'm', upstream: Object.keys(answers), retry_backoff: '5ms', ...model }],
    ...rest,
  });
  const asked = () => Object.values(servers).map(({ requests }) => requests.length);
  const states = async () => {
    const { json } = await fetch_text(`${gateway.v1}/upstreams`);
    return Object.fromEntries(json().data.map((row) => [row.name, row]));
  };
  return { gateway, servers, asked, states, chat: `${gateway.v1}/chat/completions` };
}

describe('a failure reaches exactly the upstreams that it should', () => {
  const limited = fail_with(429, {}, { 'retry-after': '60' });
  // what the first one answers; requests that a, b and c get; the client's status; retries
  const kCases = {
    400: [fail_with(400), [1, 0, 0], 400],
    422: [fail_with(422), [1, 0, 0], 422],
    401: [fail_with(401), [1, 1, 0], 200],
    403: [fail_with(403), [1, 1, 0], 200],
    404: [fail_with(404), [1, 1, 0], 200],
    '429 with retry-after': [limited, [1, 1, 0], 200],
    500: [fail_with(500), [1, 1, 0], 200],
    503: [fail_with(503), [1, 1, 0], 200],
    'a reset': [refuse, [1, 1, 0], 200],
  };
  for (const [what, [first, requests, status]] of Object.entries(kCases)) {
    test(`${what}, also without retries`, async (t) => {
      const answers = { a: first, b: answer_as('b'), c: answer_as('c') };
      const { chat, asked } = await start_pool(t, answers, { model: { retries: 0 } });
      const answer = await post(chat, ask('x'));
      assert.equal(answer.status, status, answer.text);
      assert.deepEqual(asked(), requests);
      const tries = requests.reduce((sum, count) => sum + count, 0);
      assert.equal(answer.headers['x-callgate-attempts'], String(tries));
    });
  }

  test('a certificate that is refused is not tried again, and another upstream answers', async (t) => {
    const answers = { a: answer_as('a'), b: answer_as('b') };
    const { chat, asked } = await start_pool(t, answers, { tls: { a: make_certificate() } });
    const answer = await post(chat, ask('x'));
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers['x-callgate-attempts'], '2');
    assert.deepEqual(asked(), [0, 1]);
  });

  test('all of four are asked, and the client gets the most useful error with all their names', async (t) => {
    const answers = { a: fail_with(503), b: fail_with(401), c: fail_with(404), d: limited };
    const { chat, asked } = await start_pool(t, answers, { model: { retries: 0 } });
    const answer = await post(chat, ask('x'));
    assert.deepEqual(asked(), [1, 1, 1, 1]);
    assert.equal(answer.status, 429, answer.text);
    assert.equal(answer.headers['retry-after'], '60');
    const { message } = check_error(answer.json());
    assert.match(message, /upstream "d", POST http:\/\/127\.0\.0\.1:\d+\/v1\/chat\/completions/);
    assert.match(message, /also asked: "a" \(503\), "b" \(401\), "c" \(404\)/);
  });

  test('what one upstream says of the time to come back holds for all requests', async (t) => {
    const { chat, asked, states } = await start_pool(t, { a: limited, b: answer_as('b') });
    for (let i = 0; i < 5; ++i) assert.equal((await post(chat, ask('x'))).status, 200);
    assert.deepEqual(asked(), [1, 5]);
    const { a } = await states();
    assert.equal(a.state, 'limited');
    assert.ok(a.limited_for_ms > 30_000 && a.limited_for_ms <= 60_000, `${a.limited_for_ms}`);
  });

  test('a 404 says what the URL may lack', async (t) => {
    const server = await start_upstream(t, fail_with(404));
    const rows = {
      plain: ['openai_chat', '', /its URL may lack \/v1/],
      whole: ['openai_chat', '/v1/chat/completions', /its URL should end before the path of the endpoint/],
      ollama: ['ollama', '/v1', /its URL should end before \/v1/],
      anthropic: ['anthropic_messages', '', /its URL may lack \/v1/],
      right: ['openai_chat', '/v1', /chat\/completions\)/],
    };
    const gateway = await start_gateway(t, {
      upstream: Object.entries(rows).map(([name, [wire, path]]) => ({ name, wire, url: server.url + path })),
      model: Object.keys(rows).map((name) => ({ name, upstream: name })),
    });
    for (const [name, [, , hint]] of Object.entries(rows)) {
      const answer = await post(`${gateway.v1}/chat/completions`, ask('x', { model: name }));
      assert.equal(answer.status, 404);
      assert.match(answer.json().error.message, hint);
      assert.match(answer.json().error.message, new RegExp(`upstream "${name}", POST http`));
    }
  });
});

test('the first request waits for a primary that hangs, and the next 100 do not', async (t) => {
  const { gateway, chat, asked, states } = await start_pool(
    t,
    { a: hang, b: answer_as('b') },
    { upstream: { first_byte_timeout: '700ms' } },
  );
  const first = await post(chat, ask('x', { stream: true }));
  assert.equal(first.headers['x-callgate-attempts'], '2');
  const rest = [];
  for (let i = 0; i < 100; ++i) rest.push(await post(chat, ask('x', { stream: i % 2 === 0 })));
  assert.ok(rest.every(({ status, headers }) => status === 200 && headers['x-callgate-attempts'] === '1'));
  assert.equal(asked()[1], 101);
  const { a } = await states();
  assert.match(a.state, /ejected|trying/);
  assert.equal(a.trouble, 'silence');
  assert.match(gateway.stderr, /upstream is left out of pools upstream=a trouble=silence/);
  const metrics = (await fetch_text(`${gateway.url}/metrics`)).text;
  assert.match(metrics, /^callgate_upstream_ejected\{upstream="a"\} 1$/m);
  assert.match(metrics, /^callgate_upstream_ejections_total\{upstream="a",trouble="silence"\} 1$/m);
  const ready = (await fetch_text(`${gateway.url}/readyz`)).json();
  assert.equal(ready.upstreams_ejected, 1);
  assert.equal(ready.ejected[0].name, 'a');
});

test('one that hung is noticed within a pause of being well, although a trial still waits for it', async (t) => {
  const answers = { a: hang, b: answer_as('b') };
  const { chat, states } = await start_pool(t, answers, {
    upstream: { slow_first_byte: '200ms', eject_pause: '200ms', eject_pause_max: '1s' },
    limits: { drain_timeout: '100ms' },
  });
  post(chat, ask('x', { stream: true })).catch(() => {}); // waits for a word that never comes
  await sleep(400);
  const ask_until = async (done, most) => {
    for (const end = performance.now() + most; !(await done()); await sleep(50)) {
      assert.ok(performance.now() < end, JSON.stringify(await states()));
      assert.equal((await post(chat, ask('x', { stream: true }))).status, 200);
    }
  };
  await ask_until(async () => (await states()).a.state !== 'well', 5_000);
  const hung = performance.now();
  await ask_until(() => performance.now() - hung > 3_500, 10_000);
  answers.a = answer_as('a');
  const healed = performance.now();
  await ask_until(async () => (await states()).a.state === 'well', 2_500);
  t.diagnostic(`noticed after ${Math.round(performance.now() - healed)} ms`);
  await sleep(4_500); // the trial that waited has given up, and says nothing new
  assert.equal((await states()).a.state, 'well');
});

test('an upstream that is alone is asked however often it failed', async (t) => {
  const answers = { a: fail_with(500) };
  const { chat, asked } = await start_pool(t, answers, { model: { retries: 0 } });
  for (let i = 0; i < 6; ++i) assert.equal((await post(chat, ask('x'))).status, 502);
  assert.deepEqual(asked(), [6]);
  answers.a = answer_as('a');
  assert.equal((await post(chat, ask('x'))).status, 200);
});

describe('upstreams of one priority share the requests', () => {
  const answers = () => ({ a: answer_as('a'), b: answer_as('b'), c: answer_as('c') });
  const pool = [
    { upstream: 'a', weight: 3 },
    { upstream: 'b' },
    { upstream: 'c', priority: 1 },
  ];
  const start = (t, balance) =>
    start_pool(t, answers(), { model: { upstream: undefined, pool, balance }, key: [{ name: 'k', secret: 'k-12345678', admin: true }, { name: 'l', secret: 'l-12345678' }] });
  const send = (chat, headers = {}, text = 'x') =>
    post(chat, ask(text), { headers: { authorization: 'Bearer k-12345678', ...headers } });

  test('by weight', async (t) => {
    const { chat, asked } = await start(t);
    for (let i = 0; i < 40; ++i) await send(chat);
    assert.deepEqual(asked(), [30, 10, 0]);
  });

  test('by session, by key, by what they begin with', async (t) => {
    for (const balance of ['session', 'key', 'prefix']) {
      const { chat, servers } = await start(t, balance);
      const places = new Map();
      for (let i = 0; i < 60; ++i) {
        const own = String(i % 20);
        const key = i % 2 === 0 ? 'k-12345678' : 'l-12345678';
        const before = servers.a.requests.length;
        await send(
          chat,
          { authorization: `Bearer ${key}`, ...(balance === 'session' && { 'x-session-id': own }) },
          balance === 'prefix' ? `question ${own}` : `question ${i}`,
        );
        const place = servers.a.requests.length > before ? 'a' : 'b';
        const belongs = balance === 'key' ? key : own;
        assert.equal(places.get(belongs) ?? place, place, `${balance} ${belongs}`);
        places.set(belongs, place);
      }
      if (balance !== 'key') assert.equal(new Set(places.values()).size, 2, balance);
    }
  });

  test('whoever has the fewest, whoever is fastest', async (t) => {
    const late = (text, ms) => (request, response) =>
      setTimeout(() => answer_as(text)(request, response), ms);
    const pool = [{ upstream: 'a' }, { upstream: 'b' }];
    for (const balance of ['least_in_flight', 'fastest']) {
      const { chat, asked } = await start_pool(
        t,
        { a: late('a', 60), b: late('b', 0) },
        { upstream: { slow_factor: 0 }, model: { upstream: undefined, pool, balance } },
      );
      const ask_in_turn = async () => {
        for (let i = 0; i < 25; ++i) await post(chat, ask('x', { stream: true }));
      };
      await Promise.all([ask_in_turn(), ask_in_turn()]);
      const [a, b] = asked();
      assert.ok(a >= 1 && b > a, `${balance}: ${a} and ${b}`);
    }
  });
});

describe('limits of an upstream', () => {
  test('max_in_flight: others wait in line, and those that find it full are refused', async (t) => {
    let open = 0;
    let most = 0;
    const slowly = async (request, response) => {
      most = Math.max(most, ++open);
      await sleep(100);
      --open;
      answer_as('a')(request, response);
    };
    const { chat } = await start_pool(t, { a: slowly }, { upstream: { max_in_flight: 2, queue: 4 } });
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(chat, ask('x'))));
    assert.equal(most, 2);
    assert.equal(answers.filter(({ status }) => status === 200).length, 6);
    const refused = answers.filter(({ status }) => status === 429);
    assert.equal(refused.length, 4);
    assert.equal(refused[0].json().error.code, 'upstream_limit');
  });

  test('max_in_flight: what does not fit goes to the next priority', async (t) => {
    const slowly = async (request, response) => {
      await sleep(300);
      answer_as('a')(request, response);
    };
    const answers = { a: slowly, b: answer_as('b') };
    const { chat, asked } = await start_pool(t, answers, { upstream: { max_in_flight: 2 } });
    await Promise.all([post(chat, ask('x')), post(chat, ask('x')), sleep(100).then(() => post(chat, ask('x')))]);
    assert.deepEqual(asked(), [2, 1]);
  });

  test('requests and tokens per minute', async (t) => {
    const { chat, asked } = await start_pool(
      t,
      { a: answer_as('a'), b: answer_as('b') },
      { upstream: { requests_per_minute: 3 } },
    );
    for (let i = 0; i < 5; ++i) assert.equal((await post(chat, ask('x'))).status, 200);
    assert.deepEqual(asked(), [3, 2]);
    const tokens = await start_pool(t, { a: answer_as('a') }, { upstream: { tokens_per_minute: 600 } });
    const long = 'word '.repeat(200);
    assert.equal((await post(tokens.chat, ask(long))).status, 200);
    const over = await post(tokens.chat, ask(long));
    assert.equal(over.status, 200, 'the answer said that it was 5 tokens');
    assert.equal(tokens.asked()[0], 2);
  });
});

test('a deadline bounds all tries', async (t) => {
  const { chat, asked } = await start_pool(
    t,
    { a: hang, b: hang },
    { upstream: { first_byte_timeout: '400ms' }, model: { deadline: '600ms' } },
  );
  const answer = await post(chat, ask('x'));
  assert.equal(answer.status, 504, answer.text);
  assert.match(answer.json().error.message, /deadline of model "m", 600 ms/);
  assert.deepEqual(asked(), [1, 1]);
});

test('checks leave out an upstream before a request finds out', async (t) => {
  let well = true;
  const checked = (ok) => (_, response) => response.writeHead(ok() ? 200 : 503).end('{}');
  const { states } = await start_pool(
    t,
    { a: checked(() => well), b: checked(() => true) },
    { upstream: { check: '/models', check_interval: '50ms' } },
  );
  assert.equal((await states()).a.state, 'well');
  well = false;
  await eventually('ejected', async () => (await states()).a.state === 'ejected');
  assert.match((await states()).a.reason, /GET .*\/v1\/models answered 503/);
  well = true;
  await eventually('well again', async () => (await states()).a.state === 'well');
});

// The time until the first word, or nothing when the answer is not a good one.
function time_answer(chat, agent) {
  return new Promise((resolve) => {
    const begin = performance.now();
    const body = JSON.stringify(ask('x', { stream: true }));
    const request = http.request(chat, { method: 'POST', agent, headers: { 'content-type': 'application/json' } });
    request.on('error', () => resolve({ begin }));
    request.on('response', (response) => {
      let text = '';
      let first;
      response.setEncoding('utf8');
      response.on('data', (piece) => {
        first ??= performance.now() - begin;
        text += piece;
      });
      response.on('error', () => resolve({ begin }));
      response.on('end', () => {
        const good = response.statusCode === 200 && text.endsWith('data: [DONE]\n\n') && !text.includes('"error"');
        const by = /"content":"(\w+)"/.exec(text)?.[1];
        resolve({ begin, first, by, good, attempts: Number(response.headers['x-callgate-attempts']) });
      });
    });
    request.end(body);
  });
}

async function run_load(chat, count, width) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: width });
  const answers = [];
  const work = async () => {
    for (; count > 0; ) {
      --count;
      answers.push(await time_answer(chat, agent));
    }
  };
  await Promise.all(Array.from({ length: width }, work));
  agent.destroy();
  return answers;
}

const p99 = (times) => times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)];

test('chaos: no request fails that a healthy upstream could have answered', async (t) => {
  const cut = (_, response) => {
    response.writeHead(200, kEventStream);
    response.write(kHead, () => response.destroy());
  };
  const slow = (request, response) => setTimeout(() => answer_as('slow')(request, response), 400);
  const answers = { hangs: hang, fails: fail_with(500), cuts: cut, slow, healthy: answer_as('healthy') };
  const names = Object.keys(answers);
  const { chat, states } = await start_pool(t, answers, {
    upstream: { first_byte_timeout: '3s' },
    model: { upstream: undefined, pool: names.map((upstream) => ({ upstream })) },
  });
  const alone = await start_pool(t, { healthy: answer_as('healthy') });
  const baseline = p99((await run_load(alone.chat, 300, 8)).map(({ first }) => first));

  const begin = performance.now();
  const got = await run_load(chat, 2_000, 8);
  const seconds = (performance.now() - begin) / 1000;
  assert.equal(got.filter(({ good }) => !good).length, 0);
  const later = got.filter((one) => one.begin > begin + 1_000);
  const disturbed = later.filter(({ by, attempts }) => by !== 'healthy' || attempts > 1);
  // How fast the machine is matters to no assertion: after the first second, who answered at which try does.
  assert.ok(
    disturbed.length <= Math.max(6, got.length / 100),
    `${disturbed.length} of ${later.length} requests noticed the chaos`,
  );
  const measured = p99((later.length > 100 ? later : got).map(({ first }) => first));
  t.diagnostic(
    `${got.length} requests in ${seconds.toFixed(1)} s, ${disturbed.length} of ${later.length} disturbed after the first second; ` +
      `first token p99 ${measured.toFixed(1)} ms, of the healthy upstream alone ${baseline.toFixed(1)} ms`,
  );

  for (const name of names) answers[name] = answer_as(name);
  const healed = performance.now();
  let last = {};
  while (!['hangs', 'fails', 'cuts'].every((name) => last[name]?.state === 'well')) {
    assert.ok(performance.now() - healed < 5_000, JSON.stringify(last));
    await run_load(chat, 10, 4);
    last = await states();
  }
  t.diagnostic(`all are back after ${Math.round(performance.now() - healed)} ms`);
});
