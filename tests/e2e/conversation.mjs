// The conversation that every SDK holds: a question, a turn with text and two parallel calls, the results, and a turn
// that quotes them. Here is what the scripted model sends; check_conversation() wants the same from the SDK.
import assert from 'node:assert/strict';
import { z } from 'zod';
import { start_gateway, start_mock } from './harness.mjs';

export const kQuestion = 'How is the weather in Zürich, and what is 19 + 23?';

// As the model writes them: key order, white space, escapes and digits are part of the contract.
const kWeatherArguments = String.raw`{"city": "Zürich 🌤", "note": "a \"quoted\" word,\n\ttabs \\ and <|markers|> \u00e9", "window": {"from": "06:00", "days": [1, 2.50, -3e2], "deep": {"er": [{"x": null}, true]}}, "station": 12345678901234567890, "since": 9007199254740991}`;
const kAddArguments = '{"a":19,"b":23}';

export const kResults = { get_weather: '18.5 °C and sunny in Zürich 🌤', add: '42' };

export const kTurns = [
  {
    text: 'One moment – ich schaue nach 🧭.\nFirst the weather, then the sum.',
    calls: [
      { id: 'call_weather_1', name: 'get_weather', arguments: kWeatherArguments },
      { id: 'call_add_2', name: 'add', arguments: kAddArguments },
    ],
    finish: 'tool_calls',
    usage: { prompt: 87, completion: 41, total: 128, cached: 16, reasoning: 7 },
  },
  {
    text: 'It is 18.5 °C and sunny in Zürich 🌤, and 19 + 23 = 42. ✅',
    calls: [],
    finish: 'stop',
    usage: { prompt: 131, completion: 23, total: 154, cached: 64, reasoning: 0 },
  },
];

// Upstreams that mean the same: one that keeps to the contract, others with habits of real servers, and one whose model
// writes its calls as text.
const kHabits = {
  clean: 'cut 5\ncut arguments 7',
  rough:
    'cut 3\nwrite 7\nfault no_role no_index no_id no_type finish=stop usage_every_frame no_choice_index crlf',
  odd: 'write all\ncut 4\nfault reuse_index repeat_id repeat_name minimal_frame finish=none usage_strings',
  spoken: 'cut 2\nwrite 5',
  gzip: 'cut 5\nfault gzip',
  deflate: 'cut 5\nwrite 7\nfault bare_deflate',
  brotli: 'cut 5\ncut arguments 7\nfault br',
  zstd: 'write all\ncut 4\nfault zstd',
  null_word: 'cut 5\ncut arguments 7\nfault finish_null',
  halves: 'cut 5\ncut arguments 7\nfault split_name',
};
export const kModels = Object.keys(kHabits);

function calls_as_text(calls) {
  return calls
    .map(
      ({ name, arguments: text }) =>
        `<tool_call>{"name": "${name}", "arguments": ${text}}</tool_call>`,
    )
    .join('');
}

function turn_script(model, turn) {
  const { text, calls, finish, usage } = turn;
  const said =
    model === 'spoken'
      ? [`text ${JSON.stringify(text + calls_as_text(calls))}`, 'finish stop']
      : [
          `text ${JSON.stringify(text)}`,
          ...calls.map((call) => `call ${call.name} ${call.arguments} id=${call.id}`),
          `finish ${finish}`,
        ];
  const counts = Object.entries(usage).map(([name, count]) => `${name}=${count}`);
  return [kHabits[model], ...said, `usage ${counts.join(' ')}`].join('\n').replace(/^/gm, '  ');
}

function conversation_script() {
  const rules = kModels.map(
    (model) => `
rule ${model}_calls
  when model ${model}
  when turn 0
  when last user
  when tools
  when user contains ${JSON.stringify(kQuestion)}
${turn_script(model, kTurns[0])}
rule ${model}_answer
  when model ${model}
  when turn 1
  when last tool
  when tools
  when tool contains ${JSON.stringify(kResults.add)}
${turn_script(model, kTurns[1])}
`,
  );
  const models = kModels.map((model) => `model ${model}`);
  return [
    ...models,
    ...rules,
    'rule lost',
    '  status 400 {"error": {"message": "no rule for this request"}}',
    '',
  ].join('\n');
}

// The gateway with the scripted model behind it.
export async function start_conversation(scope) {
  const mock = await start_mock(scope, conversation_script());
  return start_gateway(scope, {
    upstream: [{ name: 'scripted', url: mock.v1 }],
    model: kModels.map((name) => ({
      name,
      upstream: 'scripted',
      dialect: name === 'spoken' ? 'hermes' : 'native',
      retries: 0,
    })),
  });
}

// The tools as zod schemas, for SDKs that take those. run() notes what the SDK hands over.
export function make_tools() {
  const seen = [];
  const run = (name) => (input) => {
    seen.push({ name, input });
    return kResults[name];
  };
  return {
    seen,
    get_weather: {
      description: 'The weather at a place',
      schema: z.object({
        city: z.string(),
        note: z.string(),
        window: z.object({ from: z.string(), days: z.array(z.number()), deep: z.any() }),
        station: z.number(),
        since: z.number(),
      }),
      run: run('get_weather'),
    },
    add: {
      description: 'Adds two numbers',
      schema: z.object({ a: z.number(), b: z.number() }),
      run: run('add'),
    },
  };
}

export const kSchemas = {
  get_weather: {
    type: 'object',
    properties: {
      city: { type: 'string' },
      window: { type: 'object' },
      station: { type: 'integer' },
    },
    required: ['city'],
  },
  add: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  },
};

// The tools as the wire has them.
export const kWireTools = Object.entries(kSchemas).map(([name, parameters]) => ({
  type: 'function',
  function: { name, description: `Runs ${name}`, parameters },
}));

// What the SDK calls token counts, by our names. Counts that an SDK hides are left out.
export function from_openai_usage(usage) {
  return {
    prompt: usage?.prompt_tokens,
    completion: usage?.completion_tokens,
    total: usage?.total_tokens,
    cached: usage?.prompt_tokens_details?.cached_tokens ?? 0,
    reasoning: usage?.completion_tokens_details?.reasoning_tokens ?? 0,
  };
}

function check_call(call, wanted, model) {
  assert.equal(call.name, wanted.name);
  if (typeof call.arguments === 'string') assert.equal(call.arguments, wanted.arguments);
  else assert.deepEqual(call.arguments, JSON.parse(wanted.arguments));
  const keeps_ids = model !== 'rough' && model !== 'spoken';
  if (keeps_ids) assert.equal(call.id, wanted.id);
  else assert.match(call.id, /^\S+$/);
}

// `turns` as an SDK saw them: {text, calls: [{id, name, arguments}], finish, usage}; arguments as text or as a value.
// `hides` names what the SDK does not tell.
export function check_conversation(turns, { model, seen, hides = [] }) {
  assert.equal(turns.length, kTurns.length, 'two turns');
  turns.forEach((turn, i) => {
    const wanted = kTurns[i];
    assert.equal(turn.text, wanted.text, `text of turn ${i}`);
    assert.equal(turn.calls.length, wanted.calls.length, `calls of turn ${i}`);
    turn.calls.forEach((call, k) => check_call(call, wanted.calls[k], model));
    assert.equal(
      new Set(turn.calls.map((call) => call.id)).size,
      turn.calls.length,
      'ids are unique',
    );
    if (!hides.includes('finish')) assert.equal(turn.finish, wanted.finish, `finish of turn ${i}`);
    const told = Object.fromEntries(
      Object.entries(wanted.usage).filter(([name]) => !hides.includes(name)),
    );
    assert.deepEqual(turn.usage, told, `usage of turn ${i}`);
  });
  if (seen) {
    const wanted = kTurns[0].calls.map((call) => ({
      name: call.name,
      input: JSON.parse(call.arguments),
    }));
    assert.deepEqual(seen, wanted, 'the tools ran with the arguments that the model wrote');
  }
}
