// An MCP server with the official package: over its standard streams when it is run, over HTTP when it is imported.
import http from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

function make_server(name) {
  const server = new McpServer({ name, version: '1.0.0' });
  server.registerTool(
    'lookup_order',
    { description: 'The state of an order', inputSchema: { id: z.string() } },
    async ({ id }) => ({ content: [{ type: 'text', text: `${name}: ${id} shipped` }] }),
  );
  server.registerTool('picture', { description: 'Gives a picture' }, async () => ({
    content: [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }],
    structuredContent: { width: 1 },
  }));
  server.registerTool('pid', { description: 'Its process' }, async () => ({
    content: [{ type: 'text', text: `${process.pid}` }],
  }));
  server.registerTool(
    'steps',
    { description: 'Tells its progress' },
    async ({ _meta, sendNotification }) => {
      for (let progress = 1; progress <= 3; ++progress)
        await sendNotification({
          method: 'notifications/progress',
          params: {
            progressToken: _meta?.progressToken,
            progress,
            total: 3,
            message: `step ${progress}`,
          },
        });
      return { content: [{ type: 'text', text: 'all steps' }] };
    },
  );
  return server;
}

// A server per request, as stateless ones do.
export async function start_http_server(name) {
  const server = http.createServer(async (request, response) => {
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    const mcp = make_server(name);
    response.on('close', () => mcp.close());
    await mcp.connect(transport);
    await transport.handleRequest(request, response);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

if (process.argv[2] === 'stdio') await make_server('stdio').connect(new StdioServerTransport());
