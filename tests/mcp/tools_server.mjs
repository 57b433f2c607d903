// The tools that the conformance scenarios ask for, as an MCP server over its standard streams. The gateway stands
// between it and the scenarios.
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { setTimeout as sleep } from 'node:timers/promises';

const kPixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const kSound = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==';

const text = (words) => ({ type: 'text', text: words });
const image = { type: 'image', data: kPixel, mimeType: 'image/png' };
const resource = (uri, mimeType, words) => ({
  type: 'resource',
  resource: { uri, mimeType, text: words },
});

const tools = {
  test_simple_text: () => [text('This is a simple text response for testing.')],
  test_image_content: () => [image],
  test_audio_content: () => [{ type: 'audio', data: kSound, mimeType: 'audio/wav' }],
  test_embedded_resource: () => [
    resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
  ],
  test_multiple_content_types: () => [
    text('Multiple content types test:'),
    image,
    resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ],
  test_error_handling: () => {
    throw new Error('This tool intentionally returns an error for testing');
  },
  test_tool_with_progress: async ({ _meta, sendNotification }) => {
    for (const progress of [0, 50, 100]) {
      const params = { progressToken: _meta?.progressToken, progress, total: 100 };
      if (params.progressToken !== undefined)
        await sendNotification({ method: 'notifications/progress', params });
      await sleep(50);
    }
    return [text('done')];
  },
  json_schema_2020_12_tool: () => [text('checked')],
  test_x_mcp_header: () => [text('found')],
  // Log messages and questions to the client end at the gateway.
  test_logging_tool: async ({ sendNotification }) => {
    await sendNotification({
      method: 'notifications/message',
      params: { level: 'info', data: 'not for you' },
    });
    return [text('logged')];
  },
  test_streaming_elicitation: async () => {
    const asked = server.elicitInput({
      message: 'Who?',
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
    });
    return [
      text(
        await asked.then(
          () => 'answered',
          () => 'nobody answered',
        ),
      ),
    ];
  },
  test_trigger_tool_change: async () => {
    const name = `changed_${Object.keys(tools).length}`;
    tools[name] = () => [text('new')];
    await server.sendToolListChanged();
    return [text(name)];
  },
};

const kSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};
const kHeaderSchema = {
  type: 'object',
  properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, query: { type: 'string' } },
  required: ['region'],
};

const schema_of = (name) =>
  ({ json_schema_2020_12_tool: kSchema, test_x_mcp_header: kHeaderSchema })[name] ?? {
    type: 'object',
    properties: {},
  };

const server = new Server(
  { name: 'tools', version: '1.0.0' },
  { capabilities: { tools: { listChanged: true }, logging: {} } },
);
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: Object.keys(tools).map((name) => ({
    name,
    description: name.replaceAll('_', ' '),
    inputSchema: schema_of(name),
  })),
}));
server.setRequestHandler(CallToolRequestSchema, async ({ params }, { sendNotification }) => {
  try {
    return { content: await tools[params.name]({ _meta: params._meta, sendNotification }) };
  } catch (error) {
    return { isError: true, content: [text(error.message)] };
  }
});
await server.connect(new StdioServerTransport());
