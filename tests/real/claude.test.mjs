// The real Claude Code in front of the gateway, with models behind it that write their calls as text, or natively. Its tools, a
// sub-agent, twenty turns and a conversation that it compacts change files, and the test compares them.
import assert from 'node:assert/strict';
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
  start_tap,
} from './agent.mjs';

const claude = join(packages, '@anthropic-ai', `claude-code-${platform}`, 'claude');
const kAnswer = 'Written – viel Spaß 🧭.';
const kNote = 'Zürich 🌤: "18 °C"\n\tand <|sunny|>\n';

// The environment of docs/clients.md.
const environment = (url) => ({
  ANTHROPIC_BASE_URL: url,
  ANTHROPIC_AUTH_TOKEN: 'k',
  ANTHROPIC_MODEL: 'm',
  ANTHROPIC_DEFAULT_OPUS_MODEL: 'm',
  ANTHROPIC_DEFAULT_SONNET_MODEL: 'm',
  ANTHROPIC_DEFAULT_HAIKU_MODEL: 'm',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
});

// Claude Code asks again without a stream when a stream surprises it, and does not say so: every request must be a stream.
async function run_claude(t, { script, dialect = 'hermes', wire, env = {}, args = () => [], prepare }) {
  const place = make_place(t);
  const { work } = place;
  prepare?.(work);
  const model = await start_model(t, script(work));
  const gateway = await start_front(t, model.url, { dialect, wire });
  const tap = await start_tap(t, gateway);
  const out = await run_program({
    program: claude,
    args: [
      ...['-p', 'Write a note.', '--output-format', 'stream-json', '--verbose'],
      ...['--allowedTools', 'Write,Read,Edit,Bash,Agent,mcp__notes__write_note'],
      ...args(work),
    ],
    env: { ...place.env, ...environment(tap.url), ...env },
    cwd: work,
  });
  const events = json_lines(out);
  const { requests } = model;
  assert.deepEqual([...new Set(requests.map(({ stream }) => stream))], [true], out);
  const [{ result, is_error, usage }] = events.filter(({ type }) => type === 'result');
  assert.equal(is_error, false, out);
  return { note: place.read('note.txt'), out, events, requests, result, usage, lines: tap.lines };
}

describe('claude -p', () => {
  const kModels = [
    ...Object.keys(kWriters).map((dialect) => ({ dialect, wire: 'openai_chat' })),
    { dialect: 'native', wire: 'anthropic_messages' },
  ];
  for (const { dialect, wire } of kModels) {
    test(`its tools, ${dialect} over ${wire}`, async (t) => {
      const write = kWriters[dialect];
      const script = (work) => {
        const file_path = join(work, 'note.txt');
        return `
cut 5
usage prompt=1200 completion=30 cached=200
rule answer
  when turn 3 on
  text ${JSON.stringify(kAnswer)}
rule bash
  when turn 2
  ${write('Bash', { command: `printf '!' >> note.txt`, description: 'Append' }, 'call_3')}
rule edit
  when turn 1
  ${write('Edit', { file_path, old_string: 'rainy', new_string: 'sunny' }, 'call_2')}
rule write
  when tools
  text "I write it down. "
  ${write('Write', { file_path, content: kNote.replace('sunny', 'rainy') }, 'call_1')}
rule other
  text "A note"
`;
      };
      const { note, out, requests, result, usage } = await run_claude(t, { script, dialect, wire });
      assert.equal(note, `${kNote}!`, out);
      assert.equal(result, kAnswer);
      assert.equal(requests.length, 4);
      // What the model server counted is what Claude Code shows.
      assert.deepEqual(
        [usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens],
        [4000, 800, 120],
      );
    });
  }

  // Its tools of MCP servers are declared only once it has looked for them.
  for (const [dialect, write] of Object.entries(kWriters)) {
    test(`a tool of an MCP server that it searches first, ${dialect}`, async (t) => {
      const script = () => `
cut 5
rule answer
  when turn 2 on
  text ${JSON.stringify(kAnswer)}
rule note
  when turn 1
  text "I write it down. "
  ${write('mcp__notes__write_note', { text: kNote }, 'call_2')}
rule search
  when tools
  text "I look for a tool. "
  ${write('ToolSearch', { query: 'select:mcp__notes__write_note', max_results: 1 }, 'call_1')}
rule other
  text "A note"
`;
      const server = (work) => ({
        command: process.execPath,
        args: [join(import.meta.dirname, 'note_server.mjs'), work],
      });
      const args = (work) => [
        ...['--mcp-config', JSON.stringify({ mcpServers: { notes: server(work) } })],
      ];
      const { note, out, requests, result } = await run_claude(t, { script, dialect, args });
      assert.equal(note, kNote, out);
      assert.equal(result, kAnswer);
      const declared = requests.map(({ tools }) =>
        tools.some((tool) => tool.function.name === 'mcp__notes__write_note'),
      );
      assert.deepEqual(declared, [false, true, true]);
    });
  }

  test('a sub-agent', async (t) => {
    const { hermes } = kWriters;
    const script = (work) => `
rule sub_done
  when assistant contains "I run the errand"
  text "The errand is run."
rule answer
  when tool contains "The errand is run"
  text ${JSON.stringify(kAnswer)}
rule sub
  when user contains "errand for me"
  text "I run the errand. "
  ${hermes('Write', { file_path: join(work, 'note.txt'), content: kNote })}
rule main
  when tools
  text "Somebody else writes it. "
  ${hermes('Agent', { description: 'Write a note', prompt: 'Run this errand for me: write the note.', subagent_type: 'general-purpose', run_in_background: false })}
rule other
  text "A note"
`;
    const { note, out, requests, result } = await run_claude(t, { script });
    assert.equal(note, kNote, out);
    assert.equal(result, kAnswer, out);
    assert.equal(requests.length, 4);
  });

  test('twenty turns', async (t) => {
    const turns = Array.from({ length: 20 }, (_, i) => i);
    const line = (i) => `${i}: ${kNote}`;
    const script = () =>
      turns
        .map(
          (i) => `
rule turn_${i}
  when turn ${i}
  text "Line ${i}. "
  ${kWriters.hermes('Bash', { command: `cat >> note.txt <<'END'\n${line(i)}END`, description: 'Append' })}
`,
        )
        .join('') + `rule answer\n  when last tool\n  text ${JSON.stringify(kAnswer)}\n`;
    const { note, out, requests, result } = await run_claude(t, { script });
    assert.equal(note, turns.map(line).join(''), out);
    assert.equal(result, kAnswer);
    assert.equal(requests.length, 21);
    // Each request is the one before and more: what an upstream's cache of prompts needs.
    for (let i = 1; i < requests.length; ++i) {
      const before = requests[i - 1].messages;
      assert.deepEqual(requests[i].messages.slice(0, before.length), before);
    }
  });

  // Claude Code counts what it read by count_tokens, and replaces the conversation by the model's summary.
  test('a conversation that it compacts', async (t) => {
    const { hermes } = kWriters;
    const append = (text) =>
      hermes('Bash', { command: `echo ${text} >> note.txt`, description: 'Append' });
    const script = (work) => `
rule answer
  when assistant contains "Now the rest"
  text ${JSON.stringify(kAnswer)}
rule summary
  when user contains "detailed summary of the conversation"
  text "<analysis>Short.</analysis><summary>Half of it is missing.</summary>"
rule first
  times 1
  text "I write the beginning. "
  ${append('first half')}
rule read
  times 1
  text "I look something up. "
  ${hermes('Read', { file_path: join(work, 'long.txt') })}
  usage prompt=60000 completion=20
rule second
  text "Now the rest. "
  ${append('second half')}
`;
    const prepare = (work) =>
      writeFileSync(join(work, 'long.txt'), 'A line with words about nothing.\n'.repeat(1500));
    const env = { CLAUDE_CODE_MAX_CONTEXT_TOKENS: '64000' };
    const { note, out, requests, result, lines } = await run_claude(t, { script, prepare, env });
    assert.equal(note, 'first half\nsecond half\n', out);
    assert.equal(result, kAnswer);
    const [, , summary, after] = requests.map(({ messages }) => JSON.stringify(messages));
    assert.match(summary, /detailed summary of the conversation/);
    assert.match(after, /Half of it is missing/);
    assert.doesNotMatch(after, /I write the beginning/);
    assert.equal(requests.length, 5);
    assert.ok(lines.includes('POST /v1/messages/count_tokens?beta=true HTTP/1.1'), lines.join('\n'));
  });
});
