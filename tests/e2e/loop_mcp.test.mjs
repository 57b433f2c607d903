// Tools of MCP servers in the loop, and the gateway's own tools for MCP clients, both with the official package.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { defer, eventually, file_scope, one_upstream, start_gateway, start_mock } from './harness.mjs';
import { fetch_text, post } from './http.mjs';
import { start_http_server } from './mcp_server.mjs';

const scope = file_scope();

const kScript = `
rule call
  when turn 0
  call local__lookup_order {"id": "ORD-42"}
  call remote__lookup_order {"id": "ORD-43"}

rule answer
  when last tool
  when tool contains "http: ORD-43 shipped"
  text "both shipped"
`;

let gateway;
before(async () => {
  const mock = await start_mock(scope, kScript);
  const server = await start_http_server('http');
  defer(scope, () => {
    server.closeAllConnections();
    server.close();
  });
  gateway = await start_gateway(scope, {
    ...one_upstream(mock.v1, { model: { loop: true } }),
    mcp: true,
    key: [
      { name: 'all', secret: 'all-secret', admin: true },
      { name: 'few', secret: 'few-secret', tools: ['time'] },
    ],
    tool: [
      {
        name: 'local',
        kind: 'mcp',
        command: [process.execPath, 'mcp_server.mjs', 'stdio'],
        folder: process.cwd(),
      },
      {
        name: 'remote',
        kind: 'mcp',
        url: `http://127.0.0.1:${server.address().port}/mcp`,
        addresses: ['127.0.0.0/8'],
      },
      { name: 'time', kind: 'builtin' },
      { name: 'careful', kind: 'builtin', approval: true },
    ],
  });
  // On a busy machine the servers need longer than the gateway's start waits for them.
  const client = await connect('all-secret');
  await eventually('the tools of both servers', async () => {
    const names = (await client.listTools()).tools.map((tool) => tool.name);
    return ['local__lookup_order', 'remote__lookup_order'].every((name) => names.includes(name));
  });
});

test('the loop calls tools of servers over standard streams and over HTTP', async () => {
  const answer = await post(
    `${gateway.v1}/chat/completions`,
    {
      model: 'm',
      messages: [{ role: 'user', content: 'Where are they?' }],
      callgate: { show_tool_calls: true },
    },
    { headers: { authorization: 'Bearer all-secret' } },
  );
  const { choices, callgate } = answer.json();
  assert.equal(choices[0].message.content, 'both shipped');
  const previews = callgate.events.filter((event) => event.preview).map((event) => event.preview);
  assert.deepEqual(previews.sort(), ['http: ORD-43 shipped', 'stdio: ORD-42 shipped']);
});

async function connect(secret) {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${secret}` } },
  });
  await client.connect(transport);
  defer(scope, () => client.close());
  return client;
}
const names = async (client) => (await client.listTools()).tools.map((tool) => tool.name);

test('an MCP client lists and calls the tools that its key may use', async () => {
  const client = await connect('all-secret');
  assert.deepEqual(
    await names(client),
    ['local', 'remote']
      .flatMap((server) =>
        ['lookup_order', 'picture', 'pid', 'steps'].map((tool) => `${server}__${tool}`),
      )
      .concat('time'),
  );
  const call = { name: 'local__lookup_order', arguments: { id: 'ORD-1' } };
  const result = await client.callTool(call);
  assert.equal(result.content[0].text, 'stdio: ORD-1 shipped');
  const picture = await client.callTool({ name: 'local__picture', arguments: {} });
  assert.deepEqual(picture.content, [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }]);
  assert.deepEqual(picture.structuredContent, { width: 1 });
  const wrong = await client.callTool({ ...call, arguments: {} });
  assert.equal(wrong.isError, true);
  assert.match(wrong.content[0].text, /arguments\.id/);
  assert.deepEqual(await names(await connect('few-secret')), ['time']);
});

test('an MCP client hears of the progress of the tools behind us', async () => {
  const client = await connect('all-secret');
  for (const server of ['local', 'remote']) {
    const heard = [];
    const result = await client.callTool({ name: `${server}__steps`, arguments: {} }, undefined, {
      onprogress: ({ progress, total, message }) => heard.push([progress, total, message]),
    });
    assert.equal(result.content[0].text, 'all steps');
    assert.deepEqual(
      heard,
      [1, 2, 3].map((step) => [step, 3, `step ${step}`]),
    );
  }
  const call = { name: 'local__lookup_order', arguments: {} };
  const wrong = await client.callTool(call, undefined, { onprogress: () => {} });
  assert.match(wrong.content[0].text, /arguments\.id/);
});

test('strangers and foreign pages are refused', async () => {
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  assert.equal((await post(`${gateway.url}/mcp`, body)).status, 401);
  const headers = { authorization: 'Bearer all-secret', origin: 'https://evil.example' };
  assert.equal((await post(`${gateway.url}/mcp`, body, { headers })).status, 403);
  const mine = { authorization: headers.authorization };
  assert.equal((await fetch_text(`${gateway.url}/mcp`, { headers: mine })).status, 405);
});
