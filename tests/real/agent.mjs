// Runs a real agent in a home and a folder of its own, where nothing but the gateway can be reached. Behind it a scripted model that
// writes its calls as text, or as the wire format has them.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { defer, make_folder, start_gateway, start_mock, within } from './harness.mjs';
import { open } from './http.mjs';
import { start_upstream } from './upstream.mjs';

export const packages = join(import.meta.dirname, 'node_modules');
export const platform = `linux-${process.arch}`;

const text_of = (value) => (typeof value === 'string' ? value : JSON.stringify(value));
const quoted = (text) => JSON.stringify(text);

// How a model writes a call: lines of a script, by dialect.
export const kWriters = {
  native: (name, input, id) => `call ${name} ${JSON.stringify(input)} id=${id}`,
  hermes: (name, input) =>
    `text ${quoted(`\n<tool_call>\n${JSON.stringify({ name, arguments: input })}\n</tool_call>`)}`,
  qwen3_coder: (name, input) => {
    const parameters = Object.entries(input)
      .map(([key, value]) => `<parameter=${key}>\n${text_of(value)}\n</parameter>\n`)
      .join('');
    return `text ${quoted(`\n<tool_call>\n<function=${name}>\n${parameters}</function>\n</tool_call>`)}`;
  },
  kimi_k2: (name, input) =>
    `text ${quoted(`<|tool_calls_section_begin|><|tool_call_begin|>functions.${name}:0<|tool_call_argument_begin|>${JSON.stringify(input)}<|tool_call_end|><|tool_calls_section_end|>`)}`,
};

// The scripted model behind a server that keeps what it is asked.
export async function start_model(t, script) {
  const mock = await start_mock(t, script);
  let answering = 0;
  const requests = [];
  const recorder = await start_upstream(t, async (request, response) => {
    const { 'content-length': _, connection: __, host: ___, ...headers } = request.headers;
    if (request.method === 'POST') requests.push(JSON.parse(request.text));
    ++answering;
    const answer = await open(mock.url + request.url, {
      method: request.method,
      headers,
      ...(request.method === 'POST' ? { body: request.text } : {}),
    });
    response.on('close', () => {
      --answering;
      answer.response.destroy();
    });
    response.writeHead(answer.status, answer.headers);
    answer.response.pipe(response);
  });
  return { url: recorder.v1, requests, answering: () => answering };
}

// A gateway with one model, `m`, before the model server at `url`.
export const start_front = (t, url, { wire = 'openai_chat', dialect }) =>
  start_gateway(t, {
    upstream: [{ name: 'scripted', url, wire }],
    model: [{ name: 'm', upstream: 'scripted', retries: 0, dialect }],
  });

// A way to the gateway that keeps the first line of each request: what the client asked for, and over which transport.
export async function start_tap(t, gateway) {
  const { port } = new URL(gateway.url);
  const lines = [];
  const server = net.createServer((client) => {
    const onward = net.connect(Number(port), '127.0.0.1');
    client.on('data', (bytes) => {
      const [line] = bytes.toString('latin1', 0, 200).split('\r\n');
      if (/^[A-Z]+ \S+ HTTP\/1\.1$/.test(line)) lines.push(line);
    });
    for (const [from, to] of [
      [client, onward],
      [onward, client],
    ])
      from.on('error', () => to.destroy()).pipe(to);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  defer(t, () => server.close());
  const url = `http://127.0.0.1:${server.address().port}`;
  return { url, v1: `${url}/v1`, lines };
}

// Agents may leave helpers running. They are known by their home.
function end_helpers(home) {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
      if (environment.includes(`HOME=${home}`)) process.kill(Number(pid), 'SIGKILL');
    } catch {
      // it has gone, or is not ours
    }
  }
}

// A home and a folder to work in. Nothing but loopback can be reached from there.
export function make_place(t) {
  const folder = make_folder(t);
  const [home, work] = ['home', 'work'].map((name) => join(folder, name));
  for (const each of [home, work]) mkdirSync(each);
  defer(t, () => end_helpers(home));
  const nowhere = 'http://127.0.0.1:9';
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    LANG: 'C.UTF-8',
    HTTP_PROXY: nowhere,
    HTTPS_PROXY: nowhere,
    NO_PROXY: '127.0.0.1,localhost',
  };
  const read = (name) =>
    existsSync(join(work, name)) ? readFileSync(join(work, name), 'utf8') : null;
  return { home, work, env, read };
}

// Runs a program of the agent to its end; gives what it printed.
export async function run_program({ program, args, env, cwd, ms = 100_000 }) {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let log = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (log += text));
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', resolve);
  });
  const code = await within(ms, program, ended)
    .catch((error) => {
      throw new Error(`${error.message}\n${out}\n${log}`);
    })
    .finally(() => child.kill('SIGKILL'));
  assert.equal(code, 0, `${program} ${args.join(' ')}\n${out}\n${log}`);
  return out;
}

export const json_lines = (text) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
