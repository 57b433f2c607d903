// client.mjs URL: the gateway as the client of a conformance scenario's server, which is one of its tools. What the
// scenario wants to be called is called through the gateway's /mcp. The environment names scenario and revision.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const scenario = process.env.MCP_CONFORMANCE_SCENARIO;
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');

const folder = mkdtempSync(join(tmpdir(), 'callgate-mcp-'));
const file = join(folder, 'callgate.toml');
writeFileSync(
  file,
  `listen = "127.0.0.1:0"
mcp = true
[store]
url = "none"
[[upstream]]
name = "none"
url = "http://127.0.0.1:1/v1"
[[model]]
name = "m"
upstream = "none"
[[tool]]
name = "server"
kind = "mcp"
qualify = false
url = "${process.argv[2]}"
addresses = ["127.0.0.0/8", "::1"]
revision = "${process.env.MCP_CONFORMANCE_PROTOCOL_VERSION}"
`,
);
const gateway = spawn(process.env.CALLGATE, ['serve', '--config', file], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
let said = '';
gateway.stdout.setEncoding('utf8').on('data', (text) => (said += text));

async function ask(method, params = {}) {
  const url = said.match(/listening on (\S+)/)[1];
  const answer = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return (await answer.json()).result;
}

const call = (name, args = {}) => ask('tools/call', { name, arguments: args });

async function play() {
  for (let i = 0; i < 500 && !said.includes('listening on'); ++i) await sleep(10);
  const { tools } = await ask('tools/list');
  if (context.toolCalls) {
    // The gateway refuses null where the schema says otherwise, so it is left out here.
    for (const { name, arguments: args } of context.toolCalls)
      await call(
        name,
        Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null)),
      );
  } else if (scenario === 'tools_call') {
    await call('add_numbers', { a: 5, b: 3 });
  } else if (scenario === 'json-schema-2020-12-preservation') {
    const focal = tools.find(({ inputSchema }) => inputSchema.$defs);
    const echo = tools.find((tool) => tool !== focal);
    await call(echo.name, { schema: focal.inputSchema });
  } else {
    for (const { name, inputSchema } of tools) {
      const needed = inputSchema.required ?? [];
      await call(name, Object.fromEntries(needed.map((argument) => [argument, 'word'])));
    }
  }
}

try {
  await play();
} finally {
  gateway.kill('SIGTERM');
  await once(gateway, 'close');
  rmSync(folder, { recursive: true, force: true });
}
