// The official scenarios, as the table in docs/tools.md says: what passes must pass, and no scenario may be missing there.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { promisify } from 'node:util';
import { file_scope, make_folder, one_upstream, start_gateway } from './harness.mjs';

const scope = file_scope();
const run_program = promisify(execFile);
const kProgram = 'node_modules/@modelcontextprotocol/conformance/dist/index.js';
const kRevisions = ['2025-11-25', '2026-07-28'];

// Runs it whatever its exit status is.
const conformance = (...args) =>
  run_program(process.execPath, [kProgram, ...args], { maxBuffer: 1 << 26 }).catch(
    (error) => error,
  );

// Rows such as `| `ping` | passes | - | |`: scenario, each revision, why not.
function read_table(heading) {
  const docs = readFileSync(join(process.env.E2E_SOURCE, 'docs/tools.md'), 'utf8');
  const section = docs.slice(docs.indexOf(heading)).split('\n\n')[1];
  const rows = [...section.matchAll(/^\| `(\S+)` \| (.*?) \| (.*?) \| (.*?) ?\|$/gm)];
  return rows.map(([, name, older, newer, why]) => ({ name, verdicts: [older, newer], why }));
}

const failures = (checks) =>
  checks
    .filter(({ status }) => status === 'FAILURE')
    .map(({ id, errorMessage }) => `${id}: ${errorMessage}`);

const in_table = (rows, names) =>
  assert.deepEqual(rows.map(({ name }) => name).sort(), names.sort());

let listed;
before(async () => {
  const { stdout } = await conformance('list');
  const [, servers, clients] = stdout.split(
    /^Server scenarios.*|^Client scenarios.*|^Authorization.*/m,
  );
  const names = (text) =>
    [...text.matchAll(/^ {2}- (\S+) \[(.*)\]/gm)]
      .filter(([, , revisions]) => kRevisions.some((revision) => revisions.includes(revision)))
      .map(([, name]) => name);
  listed = { server: names(servers), client: names(clients) };
});

test('scenarios for servers', async (t) => {
  const rows = read_table('**Server scenarios**');
  in_table(rows, listed.server);
  const gateway = await start_gateway(scope, {
    ...one_upstream('http://127.0.0.1:1/v1'),
    mcp: true,
    tool: [
      {
        name: 'tools',
        kind: 'mcp',
        qualify: false,
        command: [process.execPath, 'tools_server.mjs'],
        folder: process.cwd(),
      },
    ],
  });
  for (const [i, revision] of kRevisions.entries()) {
    const folder = make_folder(scope);
    const url = `${gateway.url}/mcp`;
    await conformance(
      'server',
      '--url',
      url,
      '--suite',
      'all',
      '--spec-version',
      revision,
      '-o',
      folder,
    );
    const results = readdirSync(folder);
    for (const { name, verdicts } of rows) {
      if (!verdicts[i].startsWith('passes')) continue;
      await t.test(`${name}, ${revision}`, () => {
        const found = results.filter((result) => result.startsWith(`server-${name}-20`));
        assert.equal(found.length, 1);
        const checks = JSON.parse(readFileSync(join(folder, found[0], 'checks.json'), 'utf8'));
        const left = failures(checks);
        const allowed = Number(verdicts[i].match(/but for (\d+)/)?.[1] ?? 0);
        assert.equal(left.length, allowed, left.join('\n'));
        assert.ok(checks.some(({ status }) => status === 'SUCCESS'));
      });
    }
  }
});

test('scenarios for clients', async (t) => {
  const rows = read_table('**Client scenarios**').filter(({ name }) => !name.endsWith('*'));
  in_table(
    rows,
    listed.client.filter((name) => !name.startsWith('auth/')),
  );
  const command = `${process.execPath} client.mjs`;
  for (const { name, verdicts } of rows) {
    for (const [i, revision] of kRevisions.entries()) {
      if (verdicts[i] !== 'passes') continue;
      await t.test(`${name}, ${revision}`, async () => {
        const args = ['--command', command, '--scenario', name, '--spec-version', revision];
        const { stdout, stderr, code } = await conformance('client', ...args);
        assert.ok(!code, stdout + stderr);
      });
    }
  }
});
