// Upstreams that do not keep to the contract, one fault at a time. The client gets the turn that the model meant, and
// each repair is counted.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { check_error, check_stream, check_whole } from './chat_contract.mjs';
import { eventually, file_scope, one_upstream, start_gateway, start_mock } from './harness.mjs';
import { ask, fetch_text, post, stream_chat } from './http.mjs';

const kText = 'Let me look – 🧭.';
const kCalls = [
  { id: 'call_one', name: 'find', arguments: '{"q": "tea 🍵", "deep": {"n": [1, 2.50]}}' },
  { id: 'call_two', name: 'add', arguments: '{"a": 19, "b": 12345678901234567890}' },
];
const kUsage = [40, 25, 65];
const kSaid = [
  'cut 6',
  `text ${JSON.stringify(kText)}`,
  ...kCalls.map((call) => `call ${call.name} ${call.arguments} id=${call.id}`),
  'usage prompt=40 completion=25',
];
const as_text = ({ name, arguments: text }) =>
  `<tool_call>\n{"name": "${name}", "arguments": ${text}}\n</tool_call>`;

// What an upstream does wrong, and the repairs that are counted for it.
const kTools = ['find', 'add'].map((name) => ({ type: 'function', function: { name } }));
const kRepairs = {
  finish_stop: { fault: 'finish=stop', repairs: { finish_reason_wrong: 1 } },
  finish_missing: { fault: 'finish=none', repairs: { finish_reason_missing: 1 } },
  index_missing: { fault: 'no_index', repairs: { index_missing: 2 } },
  index_reused: { fault: 'reuse_index', repairs: { index_reused: 1 } },
  id_and_name_repeated: { fault: 'repeat_id repeat_name', repairs: { id_repeated: 2 } },
  id_missing: { fault: 'no_id', repairs: { id_missing: 2 } },
  arguments_object: { fault: 'object_arguments', repairs: { arguments_object: 2 } },
  call_as_text: {
    said: [`text ${JSON.stringify([kText, ...kCalls.map(as_text)].join('\n'))}`],
    repairs: { markup_in_text: undefined },
  },
  reasoning_as_text: {
    said: [`text ${JSON.stringify(`<think>Hm.</think>${kText}`)}`, ...kSaid.slice(2)],
    reasoning: 'Hm.',
    repairs: { markup_in_text: undefined },
  },
  arguments_surplus: { fault: 'trailing_arguments', repairs: { arguments_surplus: 2 } },
  frame_invalid: { fault: 'non_object_frame', repairs: { frame_invalid: 1 }, stream_only: true },
};

// Faults that leave the turn as it is.
const kHarmless = [
  'no_role',
  'null_role',
  'repeat_role',
  'null_index',
  'string_index',
  'index_from_one',
  'empty_id',
  'change_id',
  'late_id',
  'same_id',
  'no_type',
  'empty_type',
  'late_arguments',
  'whole_calls',
  'calls_in_one_frame',
  'interleave',
  'empty_calls',
  'finish_with_call',
  'finish_twice',
  'empty_finish',
  'no_finish_key',
  'no_done',
  'text_after_done',
  'usage_unasked',
  'usage_no_choices',
  'usage_null_choices',
  'usage_strings',
  'usage_every_frame',
  'usage_null',
  'usage_on_finish',
  'usage_anthropic_names',
  'choice_index_one',
  'no_frame_id',
  'change_frame_id',
  'minimal_frame',
  'no_choice_index',
  'no_delta',
  'null_delta',
  'message_for_delta',
  'empty_choices_first',
  'content_array',
  'null_content',
  'empty_frame',
  'crlf',
  'cr',
  'no_space',
  'multi_line',
  'bom',
  'comments',
  'no_last_blank',
  'gzip',
  'deflate',
  'bare_deflate',
  'br',
  'zstd',
  'finish=eos',
  'finish=empty',
  'finish=length',
];
const kReasoning = ['reasoning_field', 'both_reasoning_fields'];
const kNoUsage = ['no_usage', 'usage_after_done'];
const kBroken = [
  'error_mid',
  'error_mid_done',
  'error_event',
  'error_string',
  'error_in_choice',
  'bad_json_frame',
];

const scope = file_scope();
let gateway;
const model_of = (fault) => `m-${fault.replace(/\W/g, '_')}`;
before(async () => {
  const rule = (model, lines) => [`rule ${model}`, `when model ${model}`, ...lines].join('\n  ');
  const rules = [
    ...Object.entries(kRepairs).map(([name, { fault, said = kSaid }]) =>
      rule(name, [...(fault ? [`fault ${fault}`] : []), ...said, 'usage prompt=40 completion=25']),
    ),
    ...[...kHarmless, ...kBroken].map((fault) =>
      rule(model_of(fault), [`fault ${fault}`, ...kSaid]),
    ),
    rule('empty_arguments', ['fault empty_arguments', ...kSaid]),
    rule('cut_off', [
      `text ${JSON.stringify(kText)}`,
      'call find "{\\"q\\": \\"te" id=call_one',
      'finish length',
      'usage prompt=40 completion=25',
    ]),
    rule('reverse_index', ['fault reverse_index', ...kSaid]),
    ...kReasoning.map((fault) =>
      rule(fault, [`fault ${fault}`, 'reasoning "Hm. Well."', ...kSaid]),
    ),
    ...kNoUsage.map((fault) => rule(fault, [`fault ${fault}`, ...kSaid])),
    rule('nameless', [
      'fault no_name',
      `text ${JSON.stringify(kText)}`,
      `call find ${kCalls[0].arguments}`,
    ]),
    rule('legacy', [
      'fault legacy_function_call',
      ...kSaid.filter((line) => !line.startsWith('call add')),
    ]),
  ];
  const models = rules.map((text) => text.split('\n')[0].slice('rule '.length));
  const mock = await start_mock(scope, `${rules.join('\n\n')}\n`);
  gateway = await start_gateway(scope, one_upstream(mock.v1, { models, model: { retries: 0 } }));
});

async function repairs_of(model) {
  const { text } = await fetch_text(`${gateway.url}/metrics`);
  const found = {};
  for (const [, repair, count] of text.matchAll(
    new RegExp(`^callgate_repairs_total\\{model="${model}",repair="(\\w+)"\\} (\\d+)$`, 'gm'),
  )) {
    found[repair] = Number(count);
  }
  return found;
}

function check_calls(calls, wanted, keep_ids) {
  const bare = (call) => ({ name: call.name, arguments: call.arguments });
  assert.deepEqual(calls.map(bare), wanted.map(bare));
  if (keep_ids)
    assert.deepEqual(
      calls.map((call) => call.id),
      wanted.map((call) => call.id),
    );
}

async function streamed(model) {
  const body = ask('x', { model, tools: kTools, stream_options: { include_usage: true } });
  const turn = check_stream((await stream_chat(gateway.url, body)).data, { include_usage: true });
  return {
    ...turn,
    usage: [turn.usage.prompt_tokens, turn.usage.completion_tokens, turn.usage.total_tokens],
  };
}

async function whole(model) {
  const answer = await post(`${gateway.v1}/chat/completions`, ask('x', { model, tools: kTools }));
  assert.equal(answer.status, 200, answer.text);
  const {
    choices: [{ message, finish_reason }],
    usage,
  } = check_whole(answer.json());
  return {
    text: message.content,
    reasoning: message.reasoning_content ?? '',
    calls: (message.tool_calls ?? []).map((call) => ({ id: call.id, ...call.function })),
    finish_reason,
    usage: [usage.prompt_tokens, usage.completion_tokens, usage.total_tokens],
  };
}

const kWays = { stream: streamed, whole };

function check_turn(turn, { reasoning = '', keep_ids = false, calls = kCalls } = {}) {
  assert.equal(turn.text, kText);
  assert.equal(turn.reasoning, reasoning);
  check_calls(turn.calls, calls, keep_ids);
  assert.equal(turn.finish_reason, 'tool_calls');
  assert.deepEqual(turn.usage, kUsage);
}

describe('a repair gives the turn that was meant, and is counted', () => {
  for (const [name, { repairs, reasoning, stream_only }] of Object.entries(kRepairs)) {
    test(name, async () => {
      check_turn(await streamed(name), {
        reasoning,
        keep_ids: !['id_missing', 'call_as_text'].includes(name),
      });
      const wanted = Object.keys(repairs).length;
      const counted = await eventually('repairs are counted', async () => {
        const found = await repairs_of(name);
        return Object.keys(found).length >= wanted && found;
      });
      assert.deepEqual(Object.keys(counted).sort(), Object.keys(repairs).sort());
      for (const [repair, count] of Object.entries(repairs)) {
        if (count === undefined) assert.ok(counted[repair] >= 1);
        else assert.equal(counted[repair], count, repair);
      }
      if (!stream_only) check_turn(await whole(name), { reasoning });
    });
  }
});

describe('a harmless fault makes no difference', () => {
  const kNoId = ['empty_id', 'change_id', 'late_id', 'same_id'];
  for (const fault of kHarmless) {
    for (const [way, get] of Object.entries(kWays)) {
      test(`${fault}, ${way}`, async () =>
        check_turn(await get(model_of(fault)), { keep_ids: !kNoId.includes(fault) }));
    }
  }
});

describe('reasoning comes once, under one name', () => {
  for (const fault of kReasoning) {
    for (const [way, get] of Object.entries(kWays)) {
      test(`${fault}, ${way}`, async () =>
        check_turn(await get(fault), { reasoning: 'Hm. Well.', keep_ids: true }));
    }
  }
});

describe('usage that the upstream does not tell is an estimate that says so', () => {
  for (const fault of kNoUsage) {
    test(fault, async () => {
      const body = ask('x', { model: fault, stream_options: { include_usage: true } });
      const turn = check_stream((await stream_chat(gateway.url, body)).data, {
        include_usage: true,
      });
      assert.equal(turn.text, kText);
      assert.equal(turn.usage.estimated, true);
    });
  }
});

describe('an error inside a stream', () => {
  for (const fault of kBroken) {
    test(fault, async () => {
      const { data, status } = await stream_chat(gateway.url, ask('x', { model: model_of(fault) }));
      assert.equal(status, 200);
      assert.equal(data.at(-1), '[DONE]');
      check_error(JSON.parse(data.at(-2)));
      assert.equal(data.filter((text) => text.startsWith('{"error"')).length, 1);
    });
  }
});

describe('a call without a name is an error', () => {
  test('stream', async () => {
    const { data } = await stream_chat(gateway.url, ask('x', { model: 'nameless' }));
    check_error(JSON.parse(data.at(-2)));
  });

  test('whole', async () => {
    const answer = await post(`${gateway.v1}/chat/completions`, ask('x', { model: 'nameless' }));
    assert.equal(answer.status, 502);
    check_error(answer.json());
  });
});

describe('what cannot be repaired is told as it is', () => {
  for (const [way, get] of Object.entries(kWays)) {
    test(`a call without arguments has an empty object, ${way}`, async () => {
      check_turn(await get('empty_arguments'), {
        calls: kCalls.map((call) => ({ ...call, arguments: '{}' })),
      });
    });

    test(`calls that come last first keep their contents, ${way}`, async () => {
      const turn = await get('reverse_index');
      turn.calls.sort((a, b) => (a.name < b.name ? 1 : -1));
      check_turn(turn, { keep_ids: true });
    });

    test(`the old function_call becomes a call, ${way}`, async () => {
      check_turn(await get('legacy'), { calls: [kCalls[0]] });
    });

    test(`arguments that were cut off stay cut off, ${way}`, async () => {
      const turn = await get('cut_off');
      assert.equal(turn.finish_reason, 'length');
      assert.equal(turn.calls[0].arguments, '{"q": "te');
    });
  }
});
