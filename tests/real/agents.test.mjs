// Real coding agents in front of the gateway: opencode over three protocols, qwen-code and cline write a file with a call of the
// scripted model. A server with the habits of real ones, and models that write their calls as text, must lead to the same as a
// server that keeps to the contract.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  json_lines,
  kWriters,
  make_place,
  packages,
  platform,
  run_program,
  start_front,
  start_model,
} from './agent.mjs';

const kNote = 'Zürich 🌤: "18 °C"\n\tand <|sunny|>\n';
const kAnswer = 'The note is written – viel Spaß 🧭.';
const kHabits = {
  clean: 'cut 5',
  gzip: 'cut 5\n  fault gzip',
  zstd: 'cut 5\n  fault zstd',
  brotli: 'cut 5\n  fault br',
  'a "null" finish reason': 'cut 5\n  fault finish_null',
  'a name in two parts': 'cut 5\n  fault split_name',
};

// Beside the turns that matter, agents ask for titles and the like.
const script = (habit, call) => `
rule answer
  when last tool
  ${habit}
  text ${JSON.stringify(kAnswer)}
rule call
  when tools
  ${habit}
  text "I write it down. "
  ${call}
rule other
  text "A note"
`;

// opencode with one of the AI SDK's providers.
const opencode = (npm) => ({
  call: (file) => ['write', { filePath: file, content: kNote }],
  program: join(packages, `opencode-${platform}`, 'bin', 'opencode'),
  prepare({ work, v1 }) {
    execFileSync('git', ['init', '-q', work]);
    const provider = {
      npm,
      name: 'callgate',
      options: { baseURL: v1, apiKey: 'k' },
      models: { m: { name: 'm', tool_call: true } },
    };
    const config = { autoupdate: false, share: 'disabled', provider: { callgate: provider } };
    writeFileSync(join(work, 'opencode.json'), JSON.stringify(config));
  },
  env: {
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  },
  args: () => ['run', '--format', 'json', '--model', 'callgate/m', 'Write a note.'],
  read: (events) => ({
    texts: events.filter(({ type }) => type === 'text').map(({ part }) => part.text),
    calls: events
      .filter(({ type }) => type === 'tool_use')
      .map(({ part }) => [part.tool, part.callID, part.state.status]),
  }),
});

const kAgents = {
  'opencode over Chat': opencode('@ai-sdk/openai-compatible'),
  'opencode over Responses': opencode('@ai-sdk/openai'),
  'opencode over Messages': opencode('@ai-sdk/anthropic'),
  'qwen-code': {
    call: (file) => ['write_file', { file_path: file, content: kNote }],
    program: process.execPath,
    args: ({ v1 }) => [
      join(packages, '.bin', 'qwen'),
      ...['--auth-type', 'openai', '--openai-api-key', 'k', '--openai-base-url', v1],
      ...['-m', 'm', '--approval-mode', 'yolo', '--output-format', 'stream-json'],
      ...['-p', 'Write a note.'],
    ],
    read: (events) => {
      const parts = events
        .filter(({ type }) => type === 'assistant')
        .flatMap(({ message }) => message.content);
      return {
        texts: parts.filter(({ type }) => type === 'text').map(({ text }) => text),
        calls: parts.filter(({ type }) => type === 'tool_use').map(({ name, id }) => [name, id]),
        result: events.filter(({ type }) => type === 'result').map(({ result }) => result),
      };
    },
  },
  cline: {
    call: (file) => ['editor', { path: file, new_text: kNote }],
    program: join(packages, '@cline', `cli-${platform}`, 'bin', 'cline'),
    async prepare({ run, v1 }) {
      const account = ['--provider', 'openai-compatible', '--apikey', 'k'];
      await run(['auth', ...account, '--modelid', 'm', '--baseurl', v1]);
    },
    args: () => [
      ...['--json', '--auto-approve', 'true', '-P', 'openai-compatible', '-m', 'm'],
      'Write a note.',
    ],
    read: (events) => ({
      result: events
        .filter(({ type }) => type === 'run_result')
        .map(({ text, finishReason, iterations }) => [text, finishReason, iterations]),
    }),
  },
};

// What becomes of the task: the file, what the agent reports, and how often the model was asked with tools.
async function outcome(t, agent, { habit = kHabits.clean, dialect = 'native' }) {
  const place = make_place(t);
  const { work } = place;
  const call = kWriters[dialect](...agent.call(join(work, 'note.txt')), 'call_note_1');
  const model = await start_model(t, script(habit, call));
  const gateway = await start_front(t, model.url, { dialect });
  const { program } = agent;
  const run = (args) => run_program({ program, args, env: { ...place.env, ...agent.env }, cwd: work });
  const there = { work, v1: gateway.v1, run };
  await agent.prepare?.(there);
  const out = await run(agent.args(there));
  return {
    note: place.read('note.txt'),
    turns: model.requests.filter(({ tools }) => tools?.length > 0).length,
    ...agent.read(json_lines(out)),
  };
}

// Without the ids of calls, which a text call does not have, and blanks at the end of a text.
const without_ids = ({ calls, texts, ...rest }) => ({
  ...rest,
  ...(calls && { calls: calls.map(([name, , ...more]) => [name, ...more]) }),
  ...(texts && { texts: texts.map((text) => text.trim()) }),
});

for (const [name, agent] of Object.entries(kAgents)) {
  describe(name, () => {
    let clean;
    for (const [what, habit] of Object.entries(kHabits)) {
      test(what, { timeout: 240_000 }, async (t) => {
        const got = await outcome(t, agent, { habit });
        assert.equal(got.note, kNote, JSON.stringify(got));
        assert.match(JSON.stringify(got), new RegExp(kAnswer));
        assert.equal(got.turns, 2);
        clean ??= got;
        assert.deepEqual(got, clean);
      });
    }
    for (const dialect of Object.keys(kWriters).filter((each) => each !== 'native')) {
      test(`calls as text, ${dialect}`, { timeout: 240_000 }, async (t) => {
        const got = await outcome(t, agent, { dialect });
        assert.equal(got.note, kNote, JSON.stringify(got));
        assert.deepEqual(without_ids(got), without_ids(clean));
      });
    }
  });
}
