// The request log's content: what was asked, sent and answered, read through the admin API and `callgate log`.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { check_error, check_stream, check_whole } from './chat_contract.mjs';
import {
  Program,
  eventually,
  file_scope,
  make_folder,
  one_upstream,
  sleep,
  start_gateway,
  start_mock,
} from './harness.mjs';
import { ChatStream, ask, fetch_text, post, stream_chat } from './http.mjs';
import { start_upstream } from './upstream.mjs';

const scope = file_scope();

const kScript = `
rule tools
  when user contains "tools"
  reasoning "Which one?"
  text "Let me look."
  call find {"q": "tea & \\"milk\\"", "n": 2}
  call add {"a": 1}
  usage prompt=20 completion=9 cached=4 reasoning=3
rule refuse
  when user contains "refuse"
  status 400 {"error": {"message": "bad key upstream-secret-1", "type": "invalid_request_error", "param": null, "code": null}}
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
  repeat 3000 {
    text "0123456789"
  }
rule plain
  text "Grüezi, upstream-secret-1."
`;

const kKeys = [
  { name: 'alice', secret: 'alice-secret-1' },
  { name: 'quiet', secret: 'quiet-secret-1', log_content: false },
  { name: 'root', secret: 'root-secret-1', admin: true },
];
const kAlice = { headers: { authorization: 'Bearer alice-secret-1' } };
const kQuiet = { headers: { authorization: 'Bearer quiet-secret-1' } };
const kRoot = { headers: { authorization: 'Bearer root-secret-1' } };

async function start(scope, { model = {}, limits = {}, store = {}, keys = kKeys } = {}) {
  const file = join(make_folder(scope), 'log.db');
  const mock = await start_mock(scope, kScript);
  const config = one_upstream(mock.v1, {
    upstream: { key: 'upstream-secret-1' },
    models: ['m', 'hush'],
    model: { retries: 0, dialect: 'native', ...model },
    limits,
    key: keys,
    store: { url: `sqlite:${file}`, ...store },
  });
  config.model[1].log_content = false;
  return { file, config, gateway: await start_gateway(scope, config) };
}

const api = async (gateway, path, options = kRoot) => fetch_text(`${gateway.v1}${path}`, options);

// The request as logged, once it is over.
async function logged(gateway, id, options = kRoot) {
  return eventually(`request ${id} is logged`, async () => {
    const answer = await api(gateway, `/requests/${id}`, options);
    if (answer.status !== 200) return undefined;
    const request = answer.json();
    return request.state === 'running' ? undefined : request;
  });
}

const id_of = (answer) => answer.headers['x-request-id'];
const chat = (gateway) => `${gateway.v1}/chat/completions`;

// Ids and times are each answer's own.
function without_ids(response) {
  const copy = structuredClone(response);
  delete copy.id;
  delete copy.created;
  for (const { message } of copy.choices)
    for (const call of message.tool_calls ?? []) delete call.id;
  return copy;
}

function without_nulls(value) {
  if (Array.isArray(value)) return value.map(without_nulls);
  if (value === null || typeof value !== 'object') return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([key, member]) => [key, without_nulls(member)]));
}

describe('a turn is logged as the client got it', () => {
  let started;
  const shared = async () => (started ??= start(scope)).then(({ gateway }) => gateway);

  test('a stream as the whole answer, whether or not usage was asked for', async () => {
    const gateway = await shared();
    const whole = await post(chat(gateway), ask('tools'), kAlice);
    const of_whole = await logged(gateway, id_of(whole));
    check_whole(of_whole.response);
    assert.equal(JSON.stringify(of_whole.response), whole.text);
    for (const include_usage of [true, false]) {
      const body = ask('tools', { stream_options: { include_usage } });
      const streamed = await stream_chat(gateway.url, body, kAlice);
      const turn = check_stream(streamed.data, { include_usage });
      const request = await logged(gateway, id_of(streamed));
      const first = JSON.parse(streamed.data[0]);
      assert.equal(request.response.id, first.id);
      assert.equal(request.response.created, first.created);
      assert.deepEqual(without_ids(request.response), without_ids(whole.json()));
      const [{ message, finish_reason }] = request.response.choices;
      assert.equal(message.content, turn.text);
      assert.equal(message.reasoning_content, turn.reasoning);
      assert.equal(finish_reason, turn.finish_reason);
      assert.deepEqual(
        message.tool_calls.map((call) => [call.id, call.function.name, call.function.arguments]),
        turn.calls.map((call) => [call.id, call.name, call.arguments]),
      );
      assert.deepEqual(request.received, { stream: true, ...body });
      assert.equal(request.sent.stream, true);
      assert.deepEqual(request.sent.messages, body.messages);
      assert.deepEqual(
        request.calls,
        turn.calls.map(({ id, name }) => ({ id, name, outcome: 'complete' })),
      );
      assert.deepEqual(
        request.events.map((event) => event.type),
        ['reasoning', 'text', 'call', 'call', 'usage', 'finish'],
      );
      assert.deepEqual(request.events, of_whole.events.map(keep_ids(request.events)));
      assert.deepEqual(
        [request.state, request.status, request.finish_reason, request.key, request.tool_calls],
        ['completed', 200, 'tool_calls', 'alice', 2],
      );
    }
  });
  const keep_ids = (events) => (event, i) =>
    event.type === 'call' ? { ...event, id: events[i].id } : event;

  test('one that fails, before and within the stream', async () => {
    const gateway = await shared();
    const refused = await post(chat(gateway), ask('refuse'), kAlice);
    const before = await logged(gateway, id_of(refused));
    assert.deepEqual([before.state, before.status], ['failed', refused.status]);
    assert.match(before.error.message, /bad key \*{17}/);
    assert.match(JSON.stringify(before.response), /bad key \*{17}/);
    assert.deepEqual(before.received, ask('refuse'));

    const broken = await ChatStream.open(gateway.url, ask('break'), kAlice);
    await broken.data();
    const within = await logged(gateway, id_of(broken));
    assert.equal(within.state, 'failed');
    assert.equal(within.response.choices[0].message.content, 'half a');
    assert.equal(within.response.choices[0].finish_reason, null);
    assert.deepEqual(within.events, [{ type: 'text', text: 'half a' }]);
  });

  test('one whose client leaves: what it got', async () => {
    const gateway = await shared();
    const stream = await ChatStream.open(gateway.url, ask('slow'), kAlice);
    for await (const frame of stream) if (/word/.test(frame.data)) break;
    stream.leave();
    const request = await logged(gateway, id_of(stream));
    assert.equal(request.state, 'disconnected');
    assert.equal(request.finish_reason, null);
    assert.match(request.response.choices[0].message.content, /^word( word)* ?$/);
    assert.equal(request.response.choices[0].finish_reason, null);
  });

  test('one that a policy cuts', async () => {
    const gateway = await shared();
    const headers = { ...kAlice.headers, 'x-callgate-stop-after-tools': 'first' };
    const stream = await stream_chat(gateway.url, ask('tools'), { headers });
    const request = await logged(gateway, id_of(stream));
    assert.equal(request.cut, 'stop_after_tools');
    assert.deepEqual(request.calls.map((call) => call.name), ['find']);
    assert.equal(request.response.choices[0].message.tool_calls.length, 1);
  });

  test('no secret is stored, in a body or in an answer', async () => {
    const gateway = await shared();
    const { file } = await started;
    const question = 'what is alice-secret-1?';
    const answer = await post(chat(gateway), ask(question), kAlice);
    assert.match(answer.text, /upstream-secret-1/);
    const request = await logged(gateway, id_of(answer));
    assert.equal(request.received.messages[0].content, 'what is **************?');
    assert.equal(request.sent.messages[0].content, 'what is **************?');
    assert.equal(request.response.choices[0].message.content, 'Grüezi, *****************.');
    for (const name of readdirSync(dirname(file)))
      assert.doesNotMatch(readFileSync(join(dirname(file), name), 'latin1'), /-secret-1/, name);
  });

  test('without content where that is configured', async () => {
    const gateway = await shared();
    const answers = [
      await post(chat(gateway), ask('tools'), kQuiet),
      await post(chat(gateway), ask('tools', { model: 'hush' }), kAlice),
    ];
    for (const answer of answers) {
      const request = await logged(gateway, id_of(answer));
      for (const part of ['received', 'sent', 'response', 'events'])
        assert.equal(request[part], null, part);
      assert.equal(request.usage.total_tokens, 29);
      assert.equal(request.calls.length, 2);
      const events = await api(gateway, `/requests/${id_of(answer)}/events`);
      assert.deepEqual(events.json().data, []);
    }
  });

  test('text, filters and pages find it', async () => {
    const gateway = await shared();
    const marked = [];
    for (const text of ['zebra one', 'zebra two tools', 'zebra three refuse']) {
      const answer = await post(chat(gateway), ask(text), {
        headers: { ...kAlice.headers, 'x-session-id': 'zoo' },
      });
      marked.unshift(id_of(answer));
      await logged(gateway, id_of(answer));
    }
    const ids = async (query) => {
      const answer = await api(gateway, `/requests?${query}`);
      assert.equal(answer.status, 200, answer.text);
      return answer.json().data.map((request) => request.id);
    };
    assert.deepEqual(await ids('text=zebra'), marked);
    assert.deepEqual(await ids('session=zoo'), marked);
    assert.deepEqual(await ids('session=zoo&error=true'), [marked[0]]);
    assert.deepEqual(await ids('session=zoo&error=false&has_tool_calls=false'), [marked[2]]);
    assert.deepEqual(await ids('session=zoo&tool=find'), [marked[1]]);
    assert.deepEqual(await ids('text=zebra+milk'), []);
    assert.deepEqual(await ids('text=zebra+look'), [marked[1]]);
    assert.deepEqual(await ids('session=zoo&finish_reason=tool_calls&upstream=main'), [marked[1]]);
    assert.deepEqual(await ids('session=zoo&state=failed&key=alice&model=m'), [marked[0]]);
    assert.deepEqual(await ids('session=zoo&until=1h'), []);
    const seen = [];
    for (let cursor = ''; cursor !== null; ) {
      const page = (await api(gateway, `/requests?session=zoo&since=1h&limit=2${cursor}`)).json();
      seen.push(...page.data.map((request) => request.id));
      assert.equal(page.has_more, page.next_cursor !== null);
      cursor = page.has_more ? `&cursor=${encodeURIComponent(page.next_cursor)}` : null;
    }
    assert.deepEqual(seen, marked);
  });

  test('usage and stats count it', async () => {
    const gateway = await shared();
    const usage = (await api(gateway, '/usage?group=model&since=1h')).json();
    const of_model = usage.data.find((row) => row.group === 'm');
    assert.ok(of_model.requests >= 3 && of_model.prompt_tokens >= 40 && of_model.failed >= 1);
    assert.equal((await api(gateway, '/usage')).json().group, 'day');
    const stats = (await api(gateway, '/stats')).json();
    assert.equal(stats.engine, 'sqlite');
    assert.ok(stats.requests > 3 && stats.bytes > 0 && stats.writer.healthy);
  });

  test('only admins may ask, and are told what is wrong', async () => {
    const gateway = await shared();
    for (const path of ['/requests', '/requests/x', '/requests/x/events', '/stats']) {
      const refused = await api(gateway, path, kAlice);
      assert.equal(refused.status, 403, path);
      check_error(refused.json());
      assert.equal((await api(gateway, path, {})).status, 401, path);
    }
    for (const [query, param] of [
      ['limit=1000', 'limit'],
      ['since=soon', 'since'],
      ['modle=m', 'modle'],
      ['cursor=x', 'cursor'],
    ]) {
      const wrong = await api(gateway, `/requests?${query}`);
      assert.equal(wrong.status, 400, query);
      check_error(wrong.json());
      assert.equal(wrong.json().error.param, param);
    }
    assert.equal((await api(gateway, '/requests/req_none')).status, 404);
    assert.equal((await post(`${gateway.v1}/requests`, {}, kRoot)).status, 405);
  });

  test('callgate log shows it', async (t) => {
    const gateway = await shared();
    const { file } = await started;
    const answer = await post(chat(gateway), ask('find my tools'), kAlice);
    const id = id_of(answer);
    await logged(gateway, id);
    const run = async (...args) => {
      const program = new Program(t, ['log', ...args]);
      const { code } = await program.exited();
      return { code, out: program.stdout, err: program.stderr };
    };
    const place = ['--url', gateway.url, '--key', 'root-secret-1'];
    const shown = await run('show', id, ...place);
    assert.equal(shown.code, 0, shown.err);
    for (const part of [id, 'm > main', 'key alice', 'completed 200 tool_calls', '20+9 tokens'])
      assert.ok(shown.out.includes(part), `${part} in ${shown.out}`);
    const talk = ['user', '  find my tools', '', 'answer', '  Which one?', '  Let me look.'];
    assert.ok(shown.out.includes(talk.join('\n')), shown.out);
    const call = ['', '    {', '      "q": "tea & \\"milk\\"",', '      "n": 2', '    }', ''];
    assert.match(shown.out, /call find call_/);
    assert.ok(shown.out.includes(call.join('\n')), shown.out);
    assert.ok(!shown.out.includes('\x1b'), 'no colours in a pipe');
    assert.equal((await run('show', 'last', ...place)).out, shown.out);
    assert.equal((await run('show', id, '--store', `sqlite:${file}`)).out, shown.out);
    const found = await run('search', 'find', 'my', ...place, '--since', '1h', '-n', '1');
    assert.match(found.out, new RegExp(`^.*${id}.*2 calls.*\\n$`));
    const as_json = await run('search', 'find', 'my', ...place, '--json');
    assert.equal(JSON.parse(as_json.out.split('\n')[0]).id, id);
    const tail = await run('tail', '--no-follow', '-n', '3', ...place);
    assert.equal(tail.out.trim().split('\n').length, 3);
    assert.match(tail.out.trim().split('\n')[2], new RegExp(id));
    assert.equal((await run('show', 'nobody', ...place)).code, 1);
    const refused = await run('show', id, '--url', gateway.url, '--key', 'alice-secret-1');
    assert.match(refused.err, /admin = true/);

    const following = new Program(t, ['log', 'tail', '-n', '1', '--interval', '0.05', ...place]);
    await eventually('tail shows the latest', () => following.stdout.includes(id));
    const next = await post(chat(gateway), ask('one more'), kAlice);
    await eventually('tail follows', () => following.stdout.includes(id_of(next)));
    following.signal('SIGTERM');
    await following.exited();
  });
});

test('content can be off, and an answer too long for it', async (t) => {
  const off = await start(t, { store: { content: false }, keys: [] });
  const answer = await post(chat(off.gateway), ask('tools'));
  const request = await logged(off.gateway, id_of(answer), {});
  assert.deepEqual([request.received, request.response, request.events], [null, null, null]);

  const small = await start(t, { limits: { max_logged_answer: '10KiB' }, keys: [] });
  const long = await stream_chat(small.gateway.url, ask('long'));
  const cut = await logged(small.gateway, id_of(long), {});
  assert.equal(cut.response, null);
  assert.deepEqual(cut.events, [{ type: 'too_long', bytes: 30_000 }]);
  assert.deepEqual([cut.state, cut.finish_reason], ['completed', 'stop']);
});

describe('a conversation that the upstream keeps', () => {
  const usage = { input_tokens: 25, output_tokens: 15 };
  const say = (content, more = {}) => ({ choices: [{ delta: { content, ...more } }] });
  const kChunks = [
    {
      'response.created': {
        chat_id: 'chat-123',
        parent_id: 'parent-456',
        response_id: 'resp-789',
      },
    },
    {
      ...say("I'll ", { role: 'assistant', phase: 'answer', status: 'typing' }),
      usage: { input_tokens: 25, output_tokens: 1 },
    },
    say('read '),
    say('the '),
    say('file.\n\n'),
    say('<read>\n'),
    say('<filePath>/home/user/package.json</filePath>\n'),
    { ...say('</read>'), usage },
    say('', { phase: 'answer', status: 'finished' }),
  ];
  const kTools = [
    {
      type: 'function',
      function: {
        name: 'read',
        parameters: { type: 'object', properties: { filePath: { type: 'string' } } },
      },
    },
  ];

  // Holds the last chunk back until the client is gone, when `leaves`.
  const start_qwen = (scope, leaves) =>
    start_upstream(scope, async (request, response) => {
      if (request.url.endsWith('/chats/new')) {
        response.writeHead(200, { 'content-type': 'application/json' });
        return response.end(JSON.stringify({ success: true, data: { id: 'chat-123' } }));
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const [i, piece] of kChunks.entries()) {
        if (leaves && i === kChunks.length - 1) return;
        response.write(`data: ${JSON.stringify(piece)}\n\n`);
        await sleep(2);
      }
      response.end('data: [DONE]\n\n');
    });

  for (const leaves of [false, true]) {
    test(`is logged whole${leaves ? ', though the client left with its call' : ''}`, async (t) => {
      const upstream = await start_qwen(t, leaves);
      const file = join(make_folder(t), 'log.db');
      const gateway = await start_gateway(t, {
        upstream: [{ name: 'qwen', wire: 'qwen_web', url: `${upstream.url}/api/v2`, key: 'k' }],
        model: [{ name: 'qwen3-max', upstream: 'qwen', dialect: 'generic_xml' }],
        store: { url: `sqlite:${file}` },
      });
      const body = {
        model: 'qwen3-max',
        messages: [{ role: 'user', content: 'Read the package.json file' }],
        tools: kTools,
      };
      const stream = await ChatStream.open(gateway.url, body);
      let first, call;
      let args = '';
      for await (const frame of stream) {
        if (frame.data === '[DONE]') continue;
        const data = JSON.parse(frame.data);
        first ??= data;
        const piece = data.choices[0]?.delta.tool_calls?.[0];
        if (!piece) continue;
        call ??= piece.id;
        args += piece.function.arguments;
        if (leaves && args.endsWith('}')) break;
      }
      stream.leave();
      const request = await logged(gateway, id_of(stream), {});
      assert.deepEqual(without_nulls(request.response), {
        id: first.id,
        object: 'chat.completion',
        created: first.created,
        model: 'qwen3-max',
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: "I'll read the file.",
              tool_calls: [
                {
                  id: call,
                  type: 'function',
                  function: { name: 'read', arguments: '{"filePath":"/home/user/package.json"}' },
                },
              ],
            },
            finish_reason: 'tool_calls',
          },
        ],
        usage: { prompt_tokens: 25, completion_tokens: 15, total_tokens: 40 },
      });
      assert.equal(request.state, leaves ? 'disconnected' : 'completed');
      assert.equal(request.finish_reason, 'tool_calls');
      assert.deepEqual(request.calls, [{ id: call, name: 'read', outcome: 'complete' }]);
      assert.equal(request.sent.chat_id, 'chat-123', 'what was really sent');
      assert.deepEqual(request.received, { stream: true, ...body });
    });
  }
});
