// A model that speaks the Responses API as server-sent events, as much of it as codex needs. answer(request) says what the
// model does next: {text}, {calls: [{id, name, arguments}]}, both, or {slow: true} for an answer that never ends.
import http from 'node:http';
import { once } from 'node:events';

function* frames(number, { text, calls = [], slow = false }) {
  const id = `resp_${number}`;
  yield { type: 'response.created', response: { id } };
  if (text !== undefined) {
    const item = { type: 'message', role: 'assistant', id: `msg_${number}`, content: [] };
    yield { type: 'response.output_item.added', output_index: 0, item };
    for (const delta of text.match(/[\s\S]{1,4}/gu) ?? [])
      yield { type: 'response.output_text.delta', item_id: item.id, output_index: 0, delta };
    if (slow) return;
    const done = { ...item, status: 'completed', content: [{ type: 'output_text', text, annotations: [] }] };
    yield { type: 'response.output_item.done', output_index: 0, item: done };
  }
  for (const [i, call] of calls.entries()) {
    const item = { type: 'function_call', id: `fc_${number}_${i}`, call_id: call.id, name: call.name, arguments: call.arguments, status: 'completed' };
    yield { type: 'response.output_item.done', output_index: i + 1, item };
  }
  const usage = {
    input_tokens: 25,
    input_tokens_details: { cached_tokens: 5 },
    output_tokens: 15,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 40,
  };
  yield { type: 'response.completed', response: { id, usage, output: [] } };
}

export async function start_responses_server(answer) {
  const requests = [];
  let open = 0;
  const server = http.createServer(async (request, response) => {
    request.setEncoding('utf8');
    let text = '';
    for await (const piece of request) text += piece;
    if (request.method !== 'POST' || !request.url.endsWith('/responses')) {
      response.writeHead(404).end();
      return;
    }
    const body = JSON.parse(text);
    requests.push(body);
    ++open;
    response.on('close', () => --open);
    const said = answer(body, requests.length - 1);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const frame of frames(requests.length, said))
      response.write(`event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`);
    if (!said.slow) response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    requests,
    open: () => open,  // answers that have not ended
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
