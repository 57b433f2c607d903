// Real coding agents behind the gateway: opencode, qwen-code and cline write a file with a call of the scripted model. An
// upstream with the habits of real servers must lead to the same as one that keeps to the contract.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { defer, make_folder, one_upstream, start_gateway, start_mock, within } from './harness.mjs';

const packages = join(import.meta.dirname, 'node_modules');
const platform = `linux-${process.arch}`;

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
  call ${call.name} ${JSON.stringify(call.input)} id=call_note_1
rule other
  text "A note"
`;

const json_lines = (text) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

const kAgents = {
  opencode: {
    call: (file) => ({ name: 'write', input: { filePath: file, content: kNote } }),
    program: join(packages, `opencode-${platform}`, 'bin', 'opencode'),
    prepare({ work, v1 }) {
      execFileSync('git', ['init', '-q', work]);
      const provider = {
        npm: '@ai-sdk/openai-compatible',
        name: 'mock',
        options: { baseURL: v1, apiKey: 'k' },
        models: { m: { name: 'm', tool_call: true } },
      };
      const config = { autoupdate: false, share: 'disabled', provider: { mock: provider } };
      writeFileSync(join(work, 'opencode.json'), JSON.stringify(config));
    },
    env: {
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    },
    args: () => ['run', '--format', 'json', '--model', 'mock/m', 'Write a note.'],
    read: (events) => ({
      texts: events.filter(({ type }) => type === 'text').map(({ part }) => part.text),
      calls: events
        .filter(({ type }) => type === 'tool_use')
        .map(({ part }) => [part.tool, part.callID, part.state.status]),
    }),
  },
  'qwen-code': {
    call: (file) => ({ name: 'write_file', input: { file_path: file, content: kNote } }),
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
    call: (file) => ({ name: 'editor', input: { path: file, new_text: kNote } }),
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

// Agents may leave helpers running. They are known by their home.
function end_helpers(home) {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
      if (environment.includes(`HOME=${home}`)) process.kill(Number(pid), 'SIGKILL');
    } catch {
      // it has gone, or is not ours
    }
  }
}

// Runs a program of the agent to its end; gives what it printed.
async function run_program({ program, args, env, cwd }) {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let log = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (log += text));
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', resolve);
  });
  const code = await within(100_000, program, ended).finally(() => child.kill('SIGKILL'));
  assert.equal(code, 0, `${program} ${args.join(' ')}\n${out}\n${log}`);
  return out;
}

// What becomes of the task: the file, and what the agent reports.
async function outcome(t, agent, habit) {
  const folder = make_folder(t);
  const [home, work] = ['home', 'work'].map((name) => join(folder, name));
  for (const each of [home, work]) mkdirSync(each);
  defer(t, () => end_helpers(home));
  const file = join(work, 'note.txt');
  const mock = await start_mock(t, script(habit, agent.call(file)));
  const gateway = await start_gateway(
    t,
    one_upstream(mock.v1, { model: { dialect: 'native', retries: 0 } }),
  );
  // Nothing but the gateway can be reached.
  const nowhere = 'http://127.0.0.1:9';
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    LANG: 'C.UTF-8',
    HTTP_PROXY: nowhere,
    HTTPS_PROXY: nowhere,
    NO_PROXY: '127.0.0.1,localhost',
    ...agent.env,
  };
  const { program } = agent;
  const run = (args) => run_program({ program, args, env, cwd: work });
  const place = { work, v1: gateway.v1, run };
  await agent.prepare?.(place);
  const out = await run(agent.args(place));
  return {
    note: existsSync(file) ? readFileSync(file, 'utf8') : null,
    ...agent.read(json_lines(out)),
  };
}

for (const [name, agent] of Object.entries(kAgents)) {
  describe(name, () => {
    let clean;
    for (const [what, habit] of Object.entries(kHabits)) {
      test(what, { timeout: 240_000 }, async (t) => {
        const got = await outcome(t, agent, habit);
        assert.equal(got.note, kNote, JSON.stringify(got));
        assert.match(JSON.stringify(got), new RegExp(kAnswer));
        clean ??= got;
        assert.deepEqual(got, clean);
      });
    }
  });
}
