// Starts callgate as people start it, and stops it again. Whatever is started belongs to a scope, the context of a test
// or file_scope(), and goes away with it: the last one first.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { to_toml } from './toml.mjs';

export { sleep };

const callgate = process.env.CALLGATE;
if (!callgate) throw new Error('CALLGATE is not set; start the tests with run.sh');

// Nothing of the machine's own set-up may steer the SDKs or the gateway.
for (const name of Object.keys(process.env)) {
  if (/^(ANTHROPIC|GEMINI|GOOGLE|OLLAMA|OPENAI|LANGCHAIN|LANGSMITH|AI_SDK|CALLGATE|PROXY)_|_proxy$/i.test(name))
    delete process.env[name];
}

const cleanups = new WeakMap();

async function clean_up(scope) {
  const errors = [];
  for (const cleanup of cleanups.get(scope).reverse())
    await Promise.resolve(cleanup()).catch((error) => errors.push(error));
  if (errors.length > 0) throw errors[0];
}

// Runs `cleanup` when the scope ends.
export function defer(scope, cleanup) {
  if (!cleanups.has(scope)) {
    cleanups.set(scope, []);
    scope.after(() => clean_up(scope));
  }
  cleanups.get(scope).push(async () => cleanup());
}

// The scope of a whole file. Call it at the top level.
export function file_scope() {
  const scope = { passed: true };
  cleanups.set(scope, []);
  afterEach((test) => {
    if (test.passed === false) scope.passed = false;
  });
  after(() => clean_up(scope));
  return scope;
}

// A folder that goes away with the scope.
export function make_folder(scope) {
  const folder = mkdtempSync(join(tmpdir(), 'callgate-e2e-'));
  defer(scope, () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

// Resolves like the promise, or fails after `ms`.
export function within(ms, what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: not within ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// Asks again until the answer is truthy.
export async function eventually(what, ask, ms = 10_000) {
  const end = Date.now() + ms;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() > end) throw new Error(`${what}: not within ${ms} ms`);
    await sleep(5);
  }
}

export class Program {
  #child;
  #exited;
  #stopped = false;
  stdout = '';
  stderr = '';

  constructor(scope, args, env = {}) {
    this.args = args;
    this.#child = spawn(callgate, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stdout.setEncoding('utf8').on('data', (text) => (this.stdout += text));
    this.#child.stderr.setEncoding('utf8').on('data', (text) => (this.stderr += text));
    this.#exited = new Promise((resolve) => {
      this.#child.on('error', (error) => resolve({ error }));
      this.#child.on('close', (code, signal) => resolve({ code, signal }));
    });
    const kill = () => this.#child.kill('SIGKILL');
    process.on('exit', kill);
    this.#exited.then(() => process.off('exit', kill));
    defer(scope, async () => {
      if (scope.passed === false)
        console.error(this.#describe('the test failed; this program said'));
      if (!this.#stopped) await this.stop();
    });
  }

  get pid() {
    return this.#child.pid;
  }
  get log() {
    return this.stdout + this.stderr;
  }
  get running() {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }
  get urls() {
    return [...this.stdout.matchAll(/listening on (\S+)/g)].map((match) => match[1]);
  }
  get url() {
    return this.urls[0];
  }
  get v1() {
    return `${this.url}/v1`;
  }

  #describe(what) {
    return `${what}: callgate ${this.args.join(' ')}\n--- stdout\n${this.stdout}--- stderr\n${this.stderr}---`;
  }

  // Until it listens on `count` addresses.
  async ready(count = 1) {
    const end = Date.now() + 15_000;
    while (this.urls.length < count) {
      if (!this.running) throw new Error(this.#describe('ended before it listened'));
      if (Date.now() > end) throw new Error(this.#describe('does not listen'));
      await Promise.race([once(this.#child.stdout, 'data').catch(() => {}), sleep(20)]);
    }
    return this;
  }

  signal(name) {
    this.#child.kill(name);
  }

  // How it ended: {code, signal}.
  exited(ms = 15_000) {
    this.#stopped = true;
    return within(ms, `end of callgate ${this.args[0]}`, this.#exited);
  }

  // An orderly end is part of every test: a program that crashes or hangs on SIGTERM fails it.
  async stop() {
    this.signal('SIGTERM');
    const end = await this.exited().catch((error) => ({ error }));
    if (end.code !== 0) {
      this.#child.kill('SIGKILL');
      throw new Error(this.#describe(`ended with ${JSON.stringify(end)} ${end.error ?? ''}`));
    }
  }

  async kill() {
    this.signal('SIGKILL');
    return this.exited();
  }
}

// `callgate mock` that plays a script.
export async function start_mock(scope, script) {
  const file = join(make_folder(scope), 'model.script');
  writeFileSync(file, script);
  return new Program(scope, ['mock', '--script', file, '--listen', '127.0.0.1:0']).ready();
}

// A configuration with one upstream and, unless `models` says otherwise, one model named `m`.
export function one_upstream(url, { models = ['m'], model = {}, upstream = {}, ...rest } = {}) {
  return {
    upstream: [{ name: 'main', url, ...upstream }],
    model: models.map((name) => ({ name, upstream: 'main', ...model })),
    ...rest,
  };
}

// `callgate serve` with the given configuration. The file is at gateway.config_file; write() changes it.
export async function start_gateway(scope, config, { env = {}, wait = true } = {}) {
  const file = join(make_folder(scope), 'callgate.toml');
  const full = { listen: '127.0.0.1:0', threads: 2, store: { url: 'none' }, ...config };
  writeFileSync(file, to_toml(full));
  const gateway = new Program(scope, ['serve', '--config', file], env);
  gateway.config_file = file;
  gateway.config = full;
  gateway.write = (changed) =>
    writeFileSync(file, typeof changed === 'string' ? changed : to_toml(changed));
  if (wait) await gateway.ready(Array.isArray(full.listen) ? full.listen.length : 1);
  return gateway;
}
