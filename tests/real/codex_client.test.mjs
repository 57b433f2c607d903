// The real codex in front of the gateway, over HTTP and over WebSocket, with a model behind it that writes its calls as text. Its
// shell and its apply_patch change files, and the test compares them.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { make_folder, start_gateway, start_mock, within } from './harness.mjs';

const codex = join(import.meta.dirname, 'node_modules', 'codex-app-server', 'bin', 'codex.js');
const kAnswer = 'Written – viel Spaß 🧭.';
const kNote = 'Zürich 🌤: "18 °C"\n';

const as_text = (name, input) =>
  `<tool_call>${JSON.stringify({ name, arguments: input })}</tool_call>`;

const script = (call) => `
rule answer
  when last tool
  cut 3
  text ${JSON.stringify(kAnswer)}
rule call
  when tools
  cut 3
  text ${JSON.stringify(`I write it down. ${call}`)}
rule other
  text "A note"
`;

async function run_codex(t, { call, websocket }) {
  const mock = await start_mock(t, script(call));
  const gateway = await start_gateway(t, {
    upstream: [{ name: 'scripted', url: mock.v1 }],
    model: [{ name: 'm', upstream: 'scripted', dialect: 'hermes' }],
  });
  const home = make_folder(t);
  const work = make_folder(t);
  execFileSync('git', ['init', '-q', work]);
  writeFileSync(
    join(home, 'config.toml'),
    [
      'model = "m"',
      'model_provider = "callgate"',
      'approval_policy = "never"',
      'sandbox_mode = "danger-full-access"',
      'check_for_update_on_startup = false',
      '[model_providers.callgate]',
      'name = "callgate"',
      `base_url = "${gateway.v1}"`,
      'env_key = "CALLGATE_KEY"',
      'wire_api = "responses"',
      `supports_websockets = ${websocket}`,
      '[analytics]',
      'enabled = false',
      '',
    ].join('\n'),
  );
  const child = spawn(process.execPath, [codex, 'exec', '--json', 'Write a note.'], {
    cwd: work,
    env: { ...process.env, CODEX_HOME: home, CALLGATE_KEY: 'k' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (err += text));
  t.after(() => child.kill('SIGKILL'));
  const code = await within(
    120_000,
    'codex exec',
    new Promise((resolve) => child.on('close', resolve)),
  );
  assert.equal(code, 0, out + err);
  return { work, out, gateway };
}

for (const websocket of [false, true]) {
  describe(`codex exec over ${websocket ? 'WebSocket' : 'HTTP'}`, () => {
    test('a command of the shell', async (t) => {
      const call = as_text('exec_command', { cmd: `printf '%s\\n' 'Zürich 🌤: "18 °C"' > note.txt` });
      const { work, out } = await run_codex(t, { call, websocket });
      assert.ok(existsSync(join(work, 'note.txt')), out);
      assert.equal(readFileSync(join(work, 'note.txt'), 'utf8'), kNote);
      assert.match(out, /Written – viel Spaß 🧭\./);
    });

    test('apply_patch', async (t) => {
      const patch = `*** Begin Patch\n*** Add File: note.txt\n+${kNote}*** End Patch`;
      const { work, out } = await run_codex(t, {
        call: as_text('apply_patch', { input: patch }),
        websocket,
      });
      assert.ok(existsSync(join(work, 'note.txt')), out);
      assert.equal(readFileSync(join(work, 'note.txt'), 'utf8'), kNote);
    });
  });
}
