// Raw HTTP and server-sent events, read by hand: no SDK may smooth over what the gateway does.
import http from 'node:http';
import { once } from 'node:events';
import { within } from './harness.mjs';

// A request whose answer has begun: {status, headers, response, request}. `url` is a URL, or {socketPath, path}.
export async function open(url, { method = 'GET', headers = {}, body, agent, ms = 30_000 } = {}) {
  const bytes =
    body === undefined || typeof body === 'string' || Buffer.isBuffer(body)
      ? body
      : JSON.stringify(body);
  const options = { method, agent: agent ?? false };
  const request =
    typeof url === 'string' ? http.request(url, options) : http.request({ ...options, ...url });
  if (bytes !== undefined) {
    request.setHeader('content-type', 'application/json');
    request.setHeader('content-length', Buffer.byteLength(bytes));
  }
  for (const [name, value] of Object.entries(headers)) request.setHeader(name, value);
  request.end(bytes);
  const [response] = await within(ms, `${method} ${request.path}`, once(request, 'response'));
  return { status: response.statusCode, headers: response.headers, response, request };
}

// ...and has ended: adds `text` and json().
export async function fetch_text(url, options = {}) {
  const answer = await open(url, options);
  answer.response.setEncoding('utf8');
  let text = '';
  const read = async () => {
    for await (const piece of answer.response) text += piece;
  };
  await within(options.ms ?? 30_000, 'the whole answer', read());
  return { ...answer, text, json: () => JSON.parse(text) };
}

export const post = (url, body, options = {}) =>
  fetch_text(url, { method: 'POST', body, ...options });

// Splits event-stream bytes into frames: {data, event} or {comment}.
export class SseReader {
  #rest = '';
  push(text) {
    this.#rest += text;
    const frames = [];
    for (let end = this.#rest.indexOf('\n\n'); end >= 0; end = this.#rest.indexOf('\n\n')) {
      const lines = this.#rest.slice(0, end).split('\n');
      this.#rest = this.#rest.slice(end + 2);
      const frame = { at: performance.now() };
      for (const line of lines) {
        if (line.startsWith(':')) frame.comment = line.slice(1).trim();
        else if (line.startsWith('data: ')) frame.data = (frame.data ?? '') + line.slice(6);
        else if (line.startsWith('event: ')) frame.event = line.slice(7);
        else throw new Error(`not a line of an event stream: ${JSON.stringify(line)}`);
      }
      frames.push(frame);
    }
    return frames;
  }
  get rest() {
    return this.#rest;
  }
}

// A streamed chat request. frames() yields them as they come; ended tells how the connection ended.
export class ChatStream {
  #reader = new SseReader();
  frames = [];

  static async open(base, body, options = {}) {
    const stream = new ChatStream();
    const url =
      typeof base === 'string'
        ? `${base}/v1/chat/completions`
        : { ...base, path: '/v1/chat/completions' };
    Object.assign(
      stream,
      await open(url, { method: 'POST', body: { stream: true, ...body }, ...options }),
    );
    stream.response.setEncoding('utf8');
    return stream;
  }

  async *[Symbol.asyncIterator]() {
    for await (const text of this.response) {
      for (const frame of this.#reader.push(text)) {
        this.frames.push(frame);
        yield frame;
      }
    }
    if (this.#reader.rest !== '')
      throw new Error(`bytes after the last frame: ${JSON.stringify(this.#reader.rest)}`);
  }

  // Reads to the end; gives the data of all frames.
  async data(ms = 30_000) {
    const read = async () => {
      for await (const _ of this);
    };
    await within(ms, 'the end of the stream', read());
    return this.frames.filter((frame) => frame.data !== undefined).map((frame) => frame.data);
  }

  leave() {
    this.request.destroy();
  }
}

export async function stream_chat(base, body, options = {}) {
  const stream = await ChatStream.open(base, body, options);
  const data = await stream.data(options.ms);
  return { stream, data, status: stream.status, headers: stream.headers };
}

export const ask = (text, more = {}) => ({
  model: 'm',
  messages: [{ role: 'user', content: text }],
  ...more,
});
