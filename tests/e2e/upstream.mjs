// An upstream that a test drives by hand, for what a script cannot say: when exactly bytes leave, and when the other
// side was seen to leave.
import http from 'node:http';
import https from 'node:https';
import { once } from 'node:events';
import { defer } from './harness.mjs';

export const chunk = (delta, more = {}) =>
  `data: ${JSON.stringify({ id: 'up_1', object: 'chat.completion.chunk', created: 1, model: 'up', choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`;
export const kHead = chunk({ role: 'assistant', content: '' });
export const say = (text) => chunk({ content: text });
export const kEnd = `${chunk({}, { finish_reason: 'stop' })}data: [DONE]\n\n`;
export const kEventStream = { 'content-type': 'text/event-stream' };

export function whole_answer(text) {
  const message = { role: 'assistant', content: text };
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
  return JSON.stringify({
    id: 'up_1',
    object: 'chat.completion',
    created: 1,
    model: 'up',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage,
  });
}

// Calls answer(request, response) for each request, with its body read: request.text. Keeps all requests.
export async function start_upstream(scope, answer, { tls } = {}) {
  const requests = [];
  const listener = async (request, response) => {
    request.setEncoding('utf8');
    request.text = '';
    request.on('error', () => {});
    response.on('error', () => {});
    for await (const piece of request) request.text += piece;
    requests.push(request);
    await answer(request, response, requests.length - 1);
  };
  const server = tls ? https.createServer(tls, listener) : http.createServer(listener);
  server.on('clientError', (_, socket) => socket.destroy());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  defer(scope, () => {
    server.closeAllConnections();
    server.close();
  });
  const url = `${tls ? 'https' : 'http'}://127.0.0.1:${server.address().port}`;
  return { url, v1: `${url}/v1`, requests, server };
}
