// `callgate smoke` against servers that break one rule at a time, against servers that break none, and against none.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
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
import { fetch_text } from './http.mjs';
import { chunk, kEventStream, start_upstream } from './upstream.mjs';

const kKey = 'key-of-this-test-0123456789';
const kSaid = [
  'cut 6',
  'reasoning "Hm."',
  'text "Let me look – 🧭."',
  'call get_weather {"city": "Paris"} id=call_one',
  'call get_weather {"city": "Rome"} id=call_two',
  'usage prompt=40 completion=25',
];
const kCoder =
  '<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n</tool_call>';
const kStock = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set';
const kEverythingAfterAnError = ['call_made', 'done_once', 'finish_once', 'usage_as_asked'];

// What a server does wrong, and the rules that fail for it: these and no others.
const kFaults = {
  no_role: ['role_first'],
  null_role: ['role_first'],
  repeat_role: ['role_once'],
  no_index: ['call_index'],
  null_index: ['call_index'],
  string_index: ['call_index'],
  index_from_one: ['call_index'],
  reuse_index: [
    'arguments_are_json',
    'call_id_once',
    'call_name_once',
    'call_type_once',
    'deltas_not_empty',
  ],
  reverse_index: ['call_index'],
  no_id: ['call_id_first'],
  empty_id: ['call_id_first'],
  repeat_id: ['call_id_once'],
  change_id: ['call_id_once'],
  late_id: ['call_id_first'],
  same_id: ['call_id_unique'],
  repeat_name: ['call_name_once'],
  split_name: ['call_name_once', 'deltas_not_empty', 'tool_is_declared'],
  no_name: ['call_name_first'],
  no_type: ['call_type_first'],
  empty_type: ['call_type_first'],
  object_arguments: ['arguments_are_strings'],
  bad_arguments: ['arguments_are_json'],
  empty_arguments: ['arguments_are_json'],
  trailing_arguments: ['arguments_are_json'],
  late_arguments: ['arguments_are_strings'],
  calls_in_one_frame: ['one_call_per_delta'],
  interleave: ['calls_in_sequence'],
  empty_calls: ['one_call_per_delta'],
  legacy_function_call: ['call_made', 'finish_reason_known', 'no_legacy_call'],
  finish_twice: ['finish_once', 'nothing_after_finish'],
  empty_finish: ['finish_reason_known'],
  finish_null: ['finish_once', 'finish_reason_known', 'nothing_after_finish'],
  no_finish_key: ['finish_reason_present'],
  no_done: ['done_once'],
  text_after_done: ['nothing_after_done'],
  no_usage: ['usage_as_asked'],
  usage_no_choices: ['choices_array', 'usage_form'],
  usage_null_choices: ['choices_array', 'usage_form'],
  usage_after_done: ['nothing_after_done', 'usage_as_asked'],
  usage_strings: ['usage_form'],
  usage_anthropic_names: ['usage_form'],
  usage_every_frame: ['usage_last'],
  usage_on_finish: ['usage_last'],
  no_frame_id: ['frame_id'],
  change_frame_id: ['frame_id'],
  minimal_frame: ['frame_created', 'frame_id', 'frame_model', 'frame_object'],
  no_choice_index: ['choice_index'],
  choice_index_one: ['choice_index'],
  no_delta: ['choice_delta'],
  null_delta: ['choice_delta'],
  message_for_delta: ['call_made', 'choice_delta', 'finish_matches_calls', 'role_first'],
  content_array: ['text_is_string'],
  error_mid: [...kEverythingAfterAnError, 'no_error'],
  error_mid_done: ['call_made', 'finish_once', 'no_error', 'usage_as_asked'],
  error_event: [...kEverythingAfterAnError, 'no_error'],
  error_string: [...kEverythingAfterAnError, 'no_error'],
  error_in_choice: ['call_made', 'done_once', 'finish_reason_known', 'no_error', 'usage_as_asked'],
  bad_json_frame: ['frames_are_json'],
  empty_frame: ['frames_are_json'],
  non_object_frame: ['frames_are_json'],
  no_last_blank: ['frames_closed'],
  'finish=none': ['finish_once', 'usage_last'],
  'finish=empty': ['finish_once', 'finish_reason_known', 'usage_last'],
  'finish=stop': ['finish_matches_calls'],
  'finish=eos': ['finish_reason_known'],
};
// What clients read as if it were not there.
const kHarmless = [
  'none',
  'whole_calls',
  'finish_with_call',
  'usage_unasked',
  'usage_null',
  'empty_choices_first',
  'null_content',
  'reasoning_field',
  'both_reasoning_fields',
  'crlf',
  'cr',
  'no_space',
  'multi_line',
  'bom',
  'comments',
  'gzip',
  'deflate',
  'bare_deflate',
  'br',
  'zstd',
  'finish=length',
];
// What no fault does: scripts of their own.
const kScripts = {
  refused: { steps: ['status 503'], rules: ['status_ok'] },
  wrong_type: { steps: ['header content-type: text/plain', ...kSaid], rules: ['content_type'] },
  reset: { steps: ['text "Let"', 'abort'], rules: [...kEverythingAfterAnError, 'stream_complete'] },
  silent: { steps: ['text "Let"', 'hang'], rules: [...kEverythingAfterAnError, 'stream_complete'] },
  half_characters: { steps: ['cut text 1 bytes', ...kSaid.slice(1)], rules: ['whole_characters'] },
  no_call: { steps: ['text "It rains."'], rules: ['call_made'] },
  other_tool: { steps: ['call get_time {"city": "Paris"}'], rules: ['tool_is_declared'] },
  other_keys: { steps: ['call get_weather {"town": "Paris"}'], rules: ['arguments_fit_tool'] },
  other_types: { steps: ['call get_weather {"city": 7}'], rules: ['arguments_fit_tool'] },
  markup: {
    steps: ['text "<tool_" "call>{\\"name\\": \\"get_weather\\"}</tool_call>"'],
    rules: ['call_made', 'no_markup'],
  },
  echo: { steps: [`text "You are ${kKey}."`, ...kSaid.slice(3)], rules: ['no_secrets'] },
  cut_echo: {
    steps: [`text "You are ${kKey.slice(0, 9)}" "${kKey.slice(9)}."`, ...kSaid.slice(3)],
    rules: ['no_secrets'],
  },
  other_key: { steps: ['text "Use sk-abcdef0123456789."', ...kSaid.slice(3)], rules: ['no_secrets'] },
};

const call_delta = (text, started) => ({
  tool_calls: [
    started
      ? { index: 0, function: { arguments: text } }
      : {
          index: 0,
          id: 'call_one',
          type: 'function',
          function: { name: 'get_weather', arguments: text },
        },
  ],
});
const kCall = [call_delta(''), call_delta('{"city": "Paris"}', true)];
const kUsage = chunk({}).replace(
  /"choices":.*}/,
  '"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}',
);
const kRole = { role: 'assistant', content: '' };
// What no script does: deltas of a stream that is right otherwise.
const kDeltas = {
  half_pair: { deltas: [{ content: '\ud83d' }, ...kCall], rules: ['whole_characters'] },
  empty_delta: { deltas: [{ content: '' }, ...kCall], rules: ['deltas_not_empty'] },
  snapshots: {
    deltas: ['', '{"city"', '{"city": "Pa', '{"city": "Paris"}'].map(call_delta),
    rules: ['arguments_are_fragments', 'arguments_are_json'],
  },
};

const to_name = (fault) => fault.replace('=', '_is_');

function to_script() {
  const rules = [...Object.keys(kFaults), ...kHarmless].map((fault) => [
    to_name(fault),
    [`fault ${fault}`, ...kSaid],
  ]);
  for (const [name, { steps }] of Object.entries(kScripts)) rules.push([name, steps]);
  rules.push(['changes', ['times 1', ...kSaid]]);
  rules.push(['coder', ['cut 7', `text ${JSON.stringify(kCoder)}`]]);
  rules.push(['stock', [`status 400 ${JSON.stringify({ error: { message: kStock, code: 400 } })}`]]);
  return rules
    .map(([name, steps]) => [`rule ${name}`, `when model ${name}`, ...steps].join('\n'))
    .concat('rule changes_later\nwhen model changes\ncall get_weather {"city": "Oslo"}')
    .join('\n\n');
}

// Runs `callgate smoke`: how it ended, what it said, and the rules that failed.
async function smoke(scope, url, model, args = [], { key = kKey, env = {}, ms } = {}) {
  const out = args.includes('--out') ? [] : ['--out', make_folder(scope)];
  const all = ['smoke', '--url', url, '--model', model, '--json', ...out, ...args];
  const program = new Program(scope, all, { ...(key ? { OPENAI_API_KEY: key } : {}), ...env });
  const { code } = await program.exited(ms);
  const said = program.stdout === '' ? {} : JSON.parse(program.stdout);
  const rules = said.rules ?? [];
  const failed = rules.filter((rule) => rule.verdict === 'fail').map((rule) => rule.rule);
  const seen = Object.fromEntries(rules.map((rule) => [rule.rule, rule]));
  return { code, failed: failed.sort(), seen, said, log: program.log };
}

const scope = file_scope();
const broken = new Set();
let mock;

before(async () => {
  mock = await start_mock(scope, to_script());
});

async function expect_failed(context, url, model, rules, args = []) {
  const run = await smoke(context, url, model, ['--include-usage', ...args]);
  assert.deepEqual(run.failed, [...rules].sort(), `${model}: ${run.log}`);
  assert.equal(run.code, rules.length > 0 ? 1 : 0, model);
  assert.ok(!run.log.includes(kKey), `${model}: the key was printed`);
  for (const rule of run.failed) broken.add(rule);
  return run;
}

describe('a server that breaks a rule', () => {
  test('fails the rules that its fault breaks and no other', async (context) => {
    for (const [fault, rules] of Object.entries(kFaults))
      await expect_failed(context, mock.v1, to_name(fault), rules);
  });

  test('fails for what no fault does', async (context) => {
    for (const [name, { rules }] of Object.entries(kScripts)) {
      const args = name === 'silent' ? ['--timeout', '0.3'] : [];
      await expect_failed(context, mock.v1, name, rules, args);
    }
  });

  test('fails for what no script does', async (context) => {
    for (const [name, { deltas, rules }] of Object.entries(kDeltas)) {
      const server = await start_upstream(context, (_, response) => {
        response.writeHead(200, kEventStream);
        response.write([kRole, ...deltas].map((delta) => chunk(delta)).join(''));
        response.write(chunk({}, { finish_reason: 'tool_calls' }));
        response.end(kUsage + 'data: [DONE]\n\n');
      });
      await expect_failed(context, server.v1, name, rules);
    }
  });

  test('fails when it reports usage unasked', async (context) => {
    const run = await smoke(context, mock.v1, 'usage_unasked');
    assert.deepEqual(run.failed, ['usage_as_asked']);
  });

  test('fails when it calls another tool than the forced one', async (context) => {
    const run = await smoke(context, mock.v1, 'other_tool', ['--force-tool']);
    assert.deepEqual(run.failed, ['forced_tool', 'tool_is_declared']);
    broken.add('forced_tool');
  });

  test('fails when it does not answer after the client left', async (context) => {
    const server = await start_upstream(context, (_, response, i) => {
      if (i > 0) return response.destroy();
      response.writeHead(200, kEventStream);
      response.write(chunk(kRole) + chunk(call_delta('')));
    });
    const run = await smoke(context, server.v1, 'm', ['--disconnect-after-first-tool']);
    assert.equal(run.code, 1);
    assert.equal(run.seen.survives_disconnect.verdict, 'fail', run.log);
    broken.add('survives_disconnect');
  });

  test('fails when its answer changed, until the change is accepted', async (context) => {
    const out = make_folder(context);
    const args = ['--out', out, '--name', 'demo'];
    const first = await smoke(context, mock.v1, 'changes', args);
    assert.equal(first.code, 0, first.log);
    assert.equal(first.seen.same_as_last_run.verdict, 'not_applicable');
    const accepted = readFileSync(join(out, 'demo.sse'), 'utf8');
    const second = await smoke(context, mock.v1, 'changes', args);
    assert.deepEqual(second.failed, ['same_as_last_run']);
    assert.match(second.seen.same_as_last_run.seen, /--update/);
    broken.add('same_as_last_run');
    assert.equal(readFileSync(join(out, 'demo.sse'), 'utf8'), accepted);
    assert.match(readFileSync(join(out, 'demo.new.sse'), 'utf8'), /Oslo/);
    const third = await smoke(context, mock.v1, 'changes', [...args, '--update']);
    assert.equal(third.code, 0, third.log);
    assert.match(readFileSync(join(out, 'demo.sse'), 'utf8'), /Oslo/);
    assert.ok(!existsSync(join(out, 'demo.new.sse')));
    assert.equal(readFileSync(join(out, 'demo.sha256'), 'utf8').slice(0, 64), third.said.sha256);
  });

  test('is not compared with its broken answers once it is mended', async (context) => {
    const args = ['--out', make_folder(context), '--name', 'x'];
    const text = await smoke(context, mock.v1, 'markup', [...args, '--update']);
    assert.deepEqual(text.failed, ['call_made', 'no_markup']);
    assert.equal(text.seen.same_as_last_run.verdict, 'not_applicable');
    const mended = await smoke(context, mock.v1, 'none', args);
    assert.equal(mended.code, 0, mended.log);
    assert.equal(mended.seen.same_as_last_run.verdict, 'not_applicable');
    assert.equal((await smoke(context, mock.v1, 'none', args)).seen.same_as_last_run.verdict, 'pass');
  });

  test('is told how to read the call that it passed on as text', async (context) => {
    const run = await smoke(context, mock.v1, 'coder');
    assert.deepEqual(run.failed, ['call_made', 'no_markup']);
    assert.equal(run.said.dialects[0], 'qwen3_coder');
    assert.match(run.said.advice, /^this is qwen3_coder: start vLLM with .*--tool-call-parser qwen3_coder`/);
    const program = new Program(context, ['smoke', '--url', mock.v1, '--model', 'coder']);
    assert.equal((await program.exited()).code, 1);
    assert.match(program.stdout, /^this is qwen3_coder: .* or put Callgate in front/m);
  });

  test('keeps no file unless it is asked to', async (context) => {
    const program = new Program(context, ['smoke', '--url', mock.v1, '--model', 'none', '--json']);
    assert.equal((await program.exited()).code, 0);
    const said = JSON.parse(program.stdout);
    assert.equal(said.file, '');
    assert.equal(said.rules.find((rule) => rule.rule === 'same_as_last_run').verdict, 'not_applicable');
    assert.ok(!existsSync('smoke'));
  });

  test('was seen for every rule', async (context) => {
    const run = await smoke(context, mock.v1, 'none', ['--disconnect-after-first-tool']);
    assert.deepEqual([...broken].sort(), Object.keys(run.seen).sort());
  });
});

describe('a server that breaks none', () => {
  test('passes with every form that clients read alike', async (context) => {
    for (const fault of kHarmless) await expect_failed(context, mock.v1, to_name(fault), []);
  });

  test('may be the demo, which gives the same hash twice', async (context) => {
    const args = ['serve', '--demo', '--listen', '127.0.0.1:0', '--set', 'store.url=none'];
    const demo = await new Program(context, args).ready();
    const out = ['--include-usage', '--out', make_folder(context)];
    for (const verdict of ['not_applicable', 'pass']) {
      const run = await smoke(context, demo.v1, 'demo-tools', out);
      assert.equal(run.code, 0, run.log);
      assert.equal(run.seen.same_as_last_run.verdict, verdict);
    }
  });

  test('gives the same hash however its bytes are cut', async (context) => {
    const cuts = ['write all', 'write 7', 'cut 2', 'cut words'];
    const script = cuts.map((cut, i) =>
      [`rule r${i}`, 'times 1', 'when stream', ...kSaid.slice(1), ''].join('\n').replace('\n', `\n${cut}\n`),
    );
    const server = await start_mock(context, script.join('\n'));
    const run = await smoke(context, server.v1, 'm', ['--repeat', `${cuts.length}`]);
    assert.equal(run.code, 0, run.log);
    assert.equal(run.said.milliseconds.answers, cuts.length);
    for (const row of ['first_byte', 'first_token', 'first_call', 'total']) {
      const { min, median, p95 } = run.said.milliseconds[row];
      assert.ok(min <= median && median <= p95, row);
    }
  });

  test('may be our own gateway, which notices that the client left', async (context) => {
    const paced = await start_mock(context, ['pace 20ms', ...kSaid].join('\n'));
    const gateway = await start_gateway(context, one_upstream(paced.v1));
    for (const leave of ['begin', 'end']) {
      const args = ['--include-usage', `--disconnect-after-first-tool=${leave}`];
      const run = await smoke(context, gateway.v1, 'm', args);
      assert.equal(run.code, 0, run.log);
      assert.equal(run.seen.survives_disconnect.verdict, 'pass');
    }
    await eventually('both are counted', async () =>
      /^callgate_client_disconnects_total 2$/m.test((await fetch_text(`${gateway.url}/metrics`)).text),
    );
  });

  test('prints a line per rule for people', async (context) => {
    const program = new Program(context, [
      ...['smoke', '--url', mock.v1, '--model', 'none', '--out', make_folder(context)],
      ...['--repeat', '2'],
    ]);
    assert.equal((await program.exited()).code, 0);
    assert.match(program.stdout, /^pass {2}call_made +get_weather \{"city": "Paris"\}$/m);
    assert.match(program.stdout, /^first token +[0-9.]+ +[0-9.]+ +[0-9.]+$/m);
    assert.match(program.stdout, /^\d+ rules passed, 0 failed, \d+ did not apply$/m);
  });
});

describe('a key', () => {
  test('is sent, and stands neither in what is printed nor in what is kept', async (context) => {
    const server = await start_upstream(context, (request, response) => {
      response.writeHead(200, kEventStream);
      response.end(`data: {"error":{"message":"${request.headers.authorization}"}}\n\n`);
    });
    const out = make_folder(context);
    const run = await smoke(context, server.v1, 'm', ['--out', out]);
    assert.equal(server.requests[0].headers.authorization, `Bearer ${kKey}`);
    assert.ok(run.failed.includes('no_secrets'));
    assert.ok(!run.log.includes(kKey));
    assert.match(readFileSync(join(out, 'm.new.sse'), 'utf8'), /\*\*\*/);
    assert.ok(!readFileSync(join(out, 'm.new.sse'), 'utf8').includes(kKey));
  });

  test('that is refused is a reason to stop', async (context) => {
    const server = await start_upstream(context, (request, response) => {
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(`{"error":{"message":"wrong key: ${request.headers.authorization}"}}`);
    });
    const run = await smoke(context, server.v1, 'm', ['--key', 'wrong-key-42']);
    assert.equal(run.code, 2);
    assert.match(run.log, /OPENAI_API_KEY/);
    assert.ok(!run.log.includes('wrong-key-42'));
  });
});

describe('a server that cannot be asked', () => {
  const kCases = {
    nobody_listens: { url: 'http://127.0.0.1:1/v1', says: /Start the server/ },
    no_url: { url: 'nonsense', says: /http:\/\// },
    no_model: { model: 'nobody', says: /--model/ },
    no_parser: { model: 'stock', says: /vLLM without a parser.*`tools = "text"`/ },
    no_tls: { tls: true, says: /--insecure/ },
    no_answer: { hangs: true, says: /--timeout/ },
  };
  for (const [name, { url, model = 'none', tls, hangs, says }] of Object.entries(kCases)) {
    test(`is told apart from one that fails: ${name}`, async (context) => {
      let target = url ?? mock.v1;
      if (tls) target = target.replace('http:', 'https:');
      if (hangs) target = (await start_upstream(context, () => sleep(1))).v1;
      const run = await smoke(context, target, model, ['--timeout', '0.5']);
      assert.equal(run.code, 2, run.log);
      assert.match(run.log, says);
      assert.equal(run.said.passed, false);
    });
  }
});
