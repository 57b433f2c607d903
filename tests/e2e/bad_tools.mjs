// Tools that misbehave, each in its own way: over HTTP, as an MCP server over HTTP, and over standard streams.
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const kTools = ['hangs', 'crashes', 'floods', 'babbles', 'clings'];
const kFlood = 1_000_000_000;
const kBadText = Buffer.from([0x6f, 0x6b, 0x20, 0xff, 0xfe]);

const to_text = (id, result) => JSON.stringify({ jsonrpc: '2.0', id, result });
const content = (text) => ({ content: [{ type: 'text', text }] });

// What the server says to everything but calls; undefined for those.
function answer({ id, method, params }) {
  if (id === undefined) return '';
  if (method === 'initialize')
    return to_text(id, {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'bad', version: '1' },
    });
  if (method === 'tools/list')
    return to_text(id, {
      tools: kTools.map((name) => ({ name, inputSchema: { type: 'object' } })),
    });
  if (method === 'tools/call') return undefined;
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'not here' } });
}

// An answer with bytes in a string that are no UTF-8.
function babble(id) {
  const [head, tail] = to_text(id, content('@')).split('@');
  return Buffer.concat([Buffer.from(head), kBadText, Buffer.from(tail)]);
}

// A gigabyte, as fast as it is taken.
function flood(stream, head) {
  const piece = Buffer.alloc(1 << 20, 'y');
  let left = kFlood;
  stream.on('error', () => {});
  stream.write(head);
  const more = () => {
    while (left > 0 && !stream.destroyed) {
      left -= piece.length;
      if (!stream.write(piece)) return;
    }
    stream.end?.();
  };
  stream.on('drain', more);
  more();
}

function serve_stdio() {
  createInterface({ input: process.stdin }).on('line', (line) => {
    const message = JSON.parse(line);
    const text = answer(message);
    if (text !== undefined) return process.stdout.write(text && `${text}\n`);
    const { id, params } = message;
    if (params.name === 'crashes') process.kill(process.pid, 'SIGSEGV');
    if (params.name === 'floods') flood(process.stdout, '{"jsonrpc":"2.0","x":"');
    if (params.name === 'babbles')
      process.stdout.write(Buffer.concat([babble(id), Buffer.from('\n')]));
    if (params.name === 'clings') {
      process.on('SIGTERM', () => {});
      process.stdout.write(`${to_text(id, content('held'))}\n`);
    }
  });
}

function call_http(name, response, id) {
  const mcp = id !== undefined;
  if (name === 'hangs') return;
  if (name === 'crashes') return response.destroy();
  if (name === 'floods') {
    response.writeHead(200, { 'content-type': mcp ? 'application/json' : 'text/plain' });
    return flood(response, mcp ? '{"jsonrpc":"2.0","x":"' : '');
  }
  if (name === 'babbles') {
    response.writeHead(200, { 'content-type': mcp ? 'application/json' : 'text/plain' });
    return response.end(mcp ? babble(id) : kBadText);
  }
  response.writeHead(200, { 'content-type': mcp ? 'text/event-stream' : 'text/plain' });
  response.write(mcp ? `data: ${to_text(id, content('held'))}\n\n` : 'held');
}

async function serve_http() {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    if (request.url !== '/mcp') return call_http(request.url.slice(1), response);
    if (request.method !== 'POST') return response.writeHead(405).end();
    const message = JSON.parse(body);
    const text = answer(message);
    if (text === undefined) return call_http(message.params.name, response, message.id);
    response.writeHead(text ? 200 : 202, { 'content-type': 'application/json' }).end(text);
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
}

if (process.argv[2] === 'stdio') serve_stdio();
if (process.argv[2] === 'http') await serve_http();
