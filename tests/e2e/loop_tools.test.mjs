// What surrounds a run of a tool: hooks, reloads, the tools that come with the gateway, and tools that misbehave.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { test } from 'node:test';
import {
  defer,
  eventually,
  file_scope,
  one_upstream,
  sleep,
  start_gateway,
  start_mock,
} from './harness.mjs';
import { ask, fetch_text, post } from './http.mjs';

const scope = file_scope();

// The model calls each of `calls` when the user says `words`, then answers "done".
const rule = (words, calls) => `
rule
  when user contains "${words}"
  when turn 0
${calls.map(([name, args = {}]) => `  call ${name} ${JSON.stringify(args)}`).join('\n')}
`;
const kAnswer = '\nrule answer\n  when last tool\n  text "done"\n';

// The results of a loop by tool.
async function results_of(gateway, words, more = {}) {
  const answer = await post(
    `${gateway.v1}/chat/completions`,
    ask(words, { callgate: { loop: true, show_tool_calls: true, ...more } }),
  );
  const { callgate, choices } = answer.json();
  assert.equal(choices[0].message.content, 'done');
  const results = {};
  for (const event of callgate.events) if ('preview' in event) results[event.name] = event;
  return results;
}

async function call_tool(gateway, name, args = {}) {
  const params = { name, arguments: args };
  const answer = await post(`${gateway.url}/mcp`, {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params,
  });
  assert.equal(answer.status, 200, answer.text);
  const { result, error } = answer.json();
  return result ? result.content[0].text : error.message;
}

async function listen(answer) {
  const server = http.createServer(answer);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  defer(scope, () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}`;
}

const cat = (name) => ({ name, kind: 'command', command: ['cat'], description: name });
const local = { addresses: ['127.0.0.0/8'] };

test('hooks deny, rewrite and replace calls of loops', async () => {
  const questions = [];
  const url = await listen(async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    const question = JSON.parse(text);
    questions.push({ ...question, token: request.headers['x-token'] });
    const answers = {
      denied: { action: 'deny', reason: 'not today' },
      rewritten: question.result ? { action: 'allow' } : { action: 'allow', arguments: { n: 2 } },
      replaced: { action: 'replace', result: 'instead' },
      checked: question.result
        ? { action: 'replace', result: question.result.replace('secret', '***') }
        : { action: 'allow' },
    };
    if (question.tool === 'hung') return;
    response.end(
      question.tool === 'garbled' ? '{"action":' : JSON.stringify(answers[question.tool]),
    );
  });
  const names = ['denied', 'rewritten', 'replaced', 'checked', 'hung', 'garbled', 'forgiven'];
  const mock = await start_mock(
    scope,
    rule(
      'all',
      names.map((name) => [name, { n: 1, word: 'secret' }]),
    ) + kAnswer,
  );
  const gateway = await start_gateway(
    scope,
    {
      ...one_upstream(mock.v1),
      tool: names.map(cat),
      hook: [
        {
          name: 'guard',
          url,
          when: ['before', 'after'],
          tools: names.slice(0, -1),
          headers: { 'x-token': '${HOOK_TOKEN}' },
          timeout: '150ms',
          ...local,
        },
        // Loopback is not allowed here: the guard for tools is the hooks', too.
        { name: 'barred', url, tools: ['forgiven'], on_failure: 'allow' },
      ],
    },
    { env: { HOOK_TOKEN: 't0ken' } },
  );
  const results = await results_of(gateway, 'all');
  const told = Object.fromEntries(
    Object.entries(results).map(([name, { preview, is_error }]) => [name, [preview, is_error]]),
  );
  const failed = 'Error: the call was denied: the check "guard" could not be made';
  assert.deepEqual(told, {
    denied: ['Error: the call was denied: not today', true],
    rewritten: ['{"n":2}', false],
    replaced: ['instead', false],
    checked: ['{"n":1,"word":"***"}', false],
    hung: [failed, true],
    garbled: [failed, true],
    forgiven: ['{"n":1,"word":"secret"}', false],
  });
  const {
    type,
    tool,
    call_id,
    arguments: args,
    context,
    token,
  } = questions.find((question) => question.tool === 'denied');
  assert.deepEqual(
    { type, tool, args, token },
    {
      type: 'before_tool_call',
      tool: 'denied',
      args: { n: 1, word: 'secret' },
      token: 't0ken',
    },
  );
  assert.ok(call_id);
  assert.equal(context.model, 'm');
  assert.match(context.request, /^req_/);
  await eventually('metrics of hooks', async () => {
    const { text } = await fetch_text(`${gateway.url}/metrics`);
    return (
      text.includes(
        'callgate_hook_questions_total{hook="guard",when="before",outcome="failed"} 2',
      ) &&
      text.includes('callgate_hook_questions_total{hook="guard",when="after",outcome="replace"} 2')
    );
  });
});

test('a reload changes tools and hooks; calls that run end as they began', async () => {
  const url = await listen((_, response) => response.end('{"action":"deny","reason":"new rules"}'));
  const gateway = await start_gateway(scope, {
    ...one_upstream('http://127.0.0.1:1/v1'),
    mcp: true,
  });
  const reload = async (more) => {
    const from = gateway.log.length;
    gateway.write({ ...gateway.config, ...more });
    gateway.signal('SIGHUP');
    return eventually('the reload', () => gateway.log.slice(from).match(/reload.*/)?.[0]);
  };
  const shell = (script) => ({ name: 'it', kind: 'command', command: ['sh', '-c', script] });
  const server = {
    name: 'local',
    kind: 'mcp',
    command: [process.execPath, 'mcp_server.mjs', 'stdio'],
    folder: process.cwd(),
  };
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  assert.equal((await post(`${gateway.url}/mcp`, list)).status, 404);

  const begun = [server, shell('sleep 0.3; echo old')];
  assert.match(await reload({ tool: begun }), /reloaded/);
  await eventually('its tools', async () =>
    (await post(`${gateway.url}/mcp`, list)).text.includes('local__pid'),
  );
  const pid = await call_tool(gateway, 'local__pid');
  const slow = call_tool(gateway, 'it');
  await sleep(50);
  assert.match(await reload({ tool: [shell('echo new'), server] }), /reloaded/);
  assert.equal(await call_tool(gateway, 'it'), 'new\n');
  assert.equal(await call_tool(gateway, 'local__pid'), pid, 'the server was started again');
  assert.equal(await slow, 'old\n');

  const broken = { name: 'broken', kind: 'http', url: 'nowhere' };
  assert.match(await reload({ tool: [broken] }), /reload failed, nothing changed: .*tool "broken"/);
  assert.equal(await call_tool(gateway, 'it'), 'new\n');
  const hook = [{ name: 'strict', url, tools: ['i*'], ...local }];
  assert.match(await reload({ tool: [shell('echo new')], hook }), /reloaded/);
  assert.equal(await call_tool(gateway, 'it'), 'the call was denied: new rules');
  assert.match(await call_tool(gateway, 'local__pid'), /Unknown tool/);
  await eventually('the end of the server', () => {
    try {
      process.kill(Number(pid), 0);
      return false;
    } catch {
      return true;
    }
  });
});

test('the time, long results and many tools', async () => {
  const mock = await start_mock(
    scope,
    rule('clock', [
      ['time', { utc_offset: '+01:00' }],
      ['find_tools', { query: 'count words' }],
    ]) +
      rule('long', [['long']]) +
      `
rule page
  when user contains "long"
  when turn 1
  call read_result {"id": "r1", "offset": 20}
` +
      kAnswer,
  );
  const words = { ...cat('words'), description: 'counts words', command: ['wc', '-w'] };
  const gateway = await start_gateway(scope, {
    ...one_upstream(mock.v1),
    loop: { find_tools_above: 2, evict_bytes: 1000, evict_preview_bytes: 100 },
    tool: [{ name: 'time', kind: 'builtin' }, { ...cat('long'), command: ['seq', '1000'] }, words],
  });
  const { time, find_tools } = await results_of(gateway, 'clock');
  assert.match(time.preview, /"utc":"20.*"local":"20.*\+01:00"/);
  assert.match(find_tools.preview, /words/);
  const paged = await results_of(gateway, 'long');
  assert.match(paged.long.preview, /bytes left out. Read more: read_result/);
  assert.equal(paged.long.bytes, 3893);
  assert.match(paged.read_result.preview, /^\[bytes 20 to .* of 3893;.*\]\n\n11\n12\n/);
});

// Its peak of memory so far.
const peak_of = (pid) =>
  Number(readFileSync(`/proc/${pid}/status`, 'utf8').match(/VmHWM:\s+(\d+) kB/)[1]) / 1024;

test('tools that misbehave harm only their own calls', async () => {
  const child = spawn(process.execPath, ['bad_tools.mjs', 'http'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  defer(scope, () => child.kill('SIGKILL'));
  const [port] = await once(child.stdout.setEncoding('utf8'), 'data');
  const url = `http://127.0.0.1:${Number(port)}`;
  const faults = {
    hangs: ['sleep', '60'],
    crashes: ['sh', '-c', 'kill -SEGV $$'],
    floods: ['sh', '-c', 'yes | head -c 1000000000'],
    babbles: ['printf', 'ok \\377\\376'],
    clings: ['sh', '-c', 'sleep 60 & printf held'],
  };
  const timeout = '3s'; // what only a tool that hangs takes, also on a busy machine
  const tool = [cat('quick')];
  const server = { kind: 'mcp', timeout, start_timeout: '5s' };
  const stdio = [process.execPath, 'bad_tools.mjs', 'stdio'];
  tool.push({ ...server, name: 'child', command: stdio, folder: process.cwd() });
  tool.push({ ...server, name: 'remote', url: `${url}/mcp`, ...local });
  let script = rule('bystander', [['quick']]);
  for (const [fault, command] of Object.entries(faults)) {
    tool.push({ name: `http_${fault}`, kind: 'http', url: `${url}/${fault}`, timeout, ...local });
    tool.push({ name: `command_${fault}`, kind: 'command', command, timeout });
    for (const kind of ['http_', 'command_', 'child__', 'remote__'])
      script += rule(`${kind}${fault}.`, [[kind + fault]]);
  }
  const mock = await start_mock(scope, script + kAnswer);
  const config = { ...one_upstream(mock.v1), mcp: true, tool };
  const env = { ASAN_OPTIONS: 'quarantine_size_mb=1' }; // freed memory is no growth
  const gateway = await start_gateway(scope, config, { env });
  const before = peak_of(gateway.pid);

  let over = false;
  const times = [];
  const bystander = (async () => {
    while (!over) {
      const began = performance.now();
      await results_of(gateway, 'bystander');
      times.push(performance.now() - began);
      await sleep(5);
    }
  })();
  const kinds = ['http_', 'command_', 'child__', 'remote__'];
  const seen = {};
  for (const fault of Object.keys(faults)) {
    // The program that crashed or was stopped is started again with the next call.
    await eventually('a child', async () => (await call_tool(gateway, 'child__clings')) === 'held');
    const uses = kinds.map(async (kind) => {
      const name = kind + fault;
      seen[name] = (await results_of(gateway, `${name}.`))[name];
    });
    await Promise.all(uses);
  }
  const grown = peak_of(gateway.pid) - before;
  over = true;
  await bystander;

  const late = /no result within 3 s|timed out after/;
  const gone = /the connection closed before/;
  const cut = /^(y\n?)+/;
  const bad_text = /^ok \ufffd\ufffd$/;
  const held = /^held$/;
  const expected = {
    hangs: [late, late, late, late],
    crashes: [gone, /signal 11/, /the MCP server ended: signal 11/, gone],
    floods: [cut, cut, /a line of more than 8388608 bytes/, /larger than 8388608 bytes/],
    babbles: [bad_text, bad_text, bad_text, bad_text],
    clings: [late, held, held, held],
  };
  for (const [fault, patterns] of Object.entries(expected)) {
    for (const [i, pattern] of patterns.entries()) {
      const { preview, is_error, duration_ms } = seen[kinds[i] + fault];
      assert.match(preview, pattern, kinds[i] + fault);
      assert.equal(is_error, ![cut, bad_text, held].includes(pattern), kinds[i] + fault);
      assert.ok(duration_ms < 10_000, `${kinds[i]}${fault}: ${duration_ms} ms`);
    }
  }
  // A bystander that waited for a tool that hangs would take as long as its timeout.
  const worst = Math.max(...times);
  assert.ok(times.length > 20 && worst < 2500, `${times.length} bystanders, ${worst} ms at worst`);
  assert.ok(grown < 64, `four floods of 1 GB: memory grew by ${grown} MB`);
});
