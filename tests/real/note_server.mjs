// The smallest MCP server: one tool that writes a note into the folder it was started for. JSON-RPC, a line each.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const folder = process.argv[2];
const kTool = {
  name: 'write_note',
  description: 'Writes a note',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
};

const kAnswers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'notes', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [kTool] }),
  'tools/call': ({ arguments: { text } }) => {
    writeFileSync(join(folder, 'note.txt'), text);
    return { content: [{ type: 'text', text: 'noted' }] };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = kAnswers[method];
  const body = answer
    ? { result: answer(params) }
    : { error: { code: -32601, message: `no method ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...body })}\n`);
}
