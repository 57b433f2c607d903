// The real codex in front of the gateway, over HTTP and over WebSocket, with models behind it that write their calls as text, or
// natively. Its shell, its apply_patch and a tool of an MCP server change files, and the test compares them.
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
  run_program,
  start_front,
  start_model,
  start_tap,
} from './agent.mjs';

const codex = join(packages, 'codex-app-server', 'bin', 'codex.js');
const kAnswer = 'Written – viel Spaß 🧭.';
const kNote = 'Zürich 🌤: "18 °C"\n\tand <|sunny|>\n';
const kPatch = `*** Begin Patch\n*** Add File: note.txt\n${kNote.replace(/^(?=.)/gm, '+')}*** End Patch`;

// What codex must know of a model to offer it apply_patch: it has a list of OpenAI's models only.
const kCatalog = {
  models: [
    {
      slug: 'm',
      display_name: 'm',
      base_instructions: 'You are a coding agent.',
      supported_reasoning_levels: [],
      shell_type: 'shell_command',
      visibility: 'list',
      supported_in_api: true,
      priority: 1,
      support_verbosity: false,
      apply_patch_tool_type: 'freeform',
      supports_parallel_tool_calls: true,
      truncation_policy: { mode: 'tokens', limit: 10000 },
      context_window: 128000,
      experimental_supported_tools: [],
    },
  ],
};

const one_call = (call) => `
rule answer
  when last tool
  cut 3
  text ${JSON.stringify(kAnswer)}
rule call
  when tools
  cut 3
  text "I write it down. "
  ${call}
rule other
  text "A note"
`;

// The configuration of docs/clients.md, with what makes it run alone.
const config = ({ v1, websocket, name = 'callgate', top = [], more = [] }) =>
  [
    'model = "m"',
    'model_provider = "callgate"',
    'model_catalog_json = "models.json"',
    'approval_policy = "never"',
    'sandbox_mode = "danger-full-access"',
    'check_for_update_on_startup = false',
    ...top,
    '[model_providers.callgate]',
    `name = "${name}"`,
    `base_url = "${v1}"`,
    'env_key = "CALLGATE_KEY"',
    'wire_api = "responses"',
    `supports_websockets = ${websocket}`,
    '[analytics]',
    'enabled = false',
    ...more,
    '',
  ].join('\n');

const kTransports = { HTTP: false, WebSocket: true };

async function run_codex(t, { script, dialect = 'hermes', wire, transport, more, ...settings }) {
  const model = await start_model(t, script);
  const tap = await start_tap(t, await start_front(t, model.url, { dialect, wire }));
  const place = make_place(t);
  const { home, work } = place;
  execFileSync('git', ['init', '-q', work]);
  writeFileSync(join(home, 'models.json'), JSON.stringify(kCatalog));
  const websocket = kTransports[transport];
  writeFileSync(
    join(home, 'config.toml'),
    config({ v1: tap.v1, websocket, more: more?.(place), ...settings }),
  );
  const out = await run_program({
    program: process.execPath,
    args: [codex, 'exec', '--json', 'Write a note.'],
    env: { ...place.env, CODEX_HOME: home, CALLGATE_KEY: 'k' },
    cwd: work,
  });
  // Codex falls back to HTTP when a WebSocket fails it, and does not say so.
  const line = `${websocket ? 'GET' : 'POST'} /v1/responses HTTP/1.1`;
  assert.deepEqual([...new Set(tap.lines)], [line]);
  const said = json_lines(out)
    .filter(({ type, item }) => type === 'item.completed' && item.type === 'agent_message')
    .map(({ item }) => item.text.trim());
  return { note: place.read('note.txt'), out, said, requests: model.requests };
}

const write_command = (text) => `cat >> note.txt <<'END'\n${text}END`;

for (const transport of Object.keys(kTransports)) {
  describe(`codex exec over ${transport}`, () => {
    for (const [dialect, write] of Object.entries(kWriters)) {
      test(`a command of the shell, ${dialect}`, async (t) => {
        const script = one_call(write('exec_command', { cmd: write_command(kNote) }, 'call_1'));
        const { note, out, said, requests } = await run_codex(t, { script, dialect, transport });
        assert.equal(note, kNote, out);
        assert.deepEqual(said, ['I write it down.', kAnswer]);
        assert.equal(requests.length, 2);
      });

      test(`apply_patch, ${dialect}`, async (t) => {
        const script = one_call(write('apply_patch', { input: kPatch }, 'call_1'));
        const { note, out, said, requests } = await run_codex(t, { script, dialect, transport });
        assert.equal(note, kNote, out);
        assert.deepEqual(said, ['I write it down.', kAnswer]);
        assert.equal(requests.length, 2);
      });

      test(`a tool of an MCP server, ${dialect}`, async (t) => {
        const script = one_call(write('mcp__notes__write_note', { text: kNote }, 'call_1'));
        const more = ({ work }) => [
          '[mcp_servers.notes]',
          `command = ${JSON.stringify(process.execPath)}`,
          `args = ${JSON.stringify([join(import.meta.dirname, 'note_server.mjs'), work])}`,
        ];
        const { note, out, said } = await run_codex(t, { script, dialect, transport, more });
        assert.equal(note, kNote, out);
        assert.deepEqual(said, ['I write it down.', kAnswer]);
      });
    }

    test('a command of the shell, native over openai_responses', async (t) => {
      const write = kWriters.native;
      const script = one_call(write('exec_command', { cmd: write_command(kNote) }, 'call_1'));
      const how = { dialect: 'native', wire: 'openai_responses', transport };
      const { note, out, said, requests } = await run_codex(t, { script, ...how });
      assert.equal(note, kNote, out);
      assert.deepEqual(said, ['I write it down.', kAnswer]);
      assert.equal(requests.length, 2);
    });

    // Codex asks for a summary itself, or, of a provider that it takes for OpenAI, for an item that only the server can read. The
    // second half of the note can be written only from what the summary says.
    const kCompactions = {
      callgate: { asked: /CONTEXT CHECKPOINT/, after: /^Another language model/ },
      OpenAI: { asked: /^Summarise this conversation/, after: /^Summary of the conversation/ },
    };
    for (const [name, words] of Object.entries(kCompactions)) {
      test(`compaction of a provider named ${name}`, async (t) => {
        const { hermes } = kWriters;
        const [first, second] = ['first half\n', 'second half\n'];
        const script = `
rule answer
  when last tool
  when assistant contains "Now the rest"
  text ${JSON.stringify(kAnswer)}
rule second
  when user contains "The second half is missing"
  when tools
  text "Now the rest. "
  ${hermes('exec_command', { cmd: write_command(second) })}
rule summary
  when last user
  when turn 1 on
  text "The second half is missing."
rule first
  when last user
  text "I write the beginning. "
  ${hermes('exec_command', { cmd: write_command(first) })}
  usage prompt=110000 completion=20
rule unexpected
  text "What?"
`;
        const top = ['model_auto_compact_token_limit = 100000'];
        const { note, out, said, requests } = await run_codex(t, { script, transport, name, top });
        assert.equal(note, first + second, out);
        assert.deepEqual(said, ['I write the beginning.', 'Now the rest.', kAnswer]);
        const [, asked, after] = requests.map(({ messages }) => messages);
        assert.match(asked.at(-1).content, words.asked);
        assert.match(after.at(-1).content, words.after);
        assert.ok(!after.some(({ role }) => role === 'tool'), 'the call is in the summary alone');
        assert.equal(requests.length, 4);
      });
    }
  });
}
