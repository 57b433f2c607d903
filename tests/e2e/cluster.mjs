// What several gateways stand on: a PostgreSQL of the test's own, nginx in front, and connections that can be cut.
import { execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { defer, eventually, make_folder } from './harness.mjs';

export async function free_port() {
  const server = net.createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const is_open = (port) =>
  new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

function find_program(name, folders) {
  const found = folders.map((folder) => join(folder, name)).find(existsSync);
  if (!found) throw new Error(`${name} is not installed, looked in ${folders.join(' ')}`);
  return found;
}

function postgres_folders() {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => b - a) : [];
  return versions.map((version) => join(root, version, 'bin'));
}

// A database server of its own. Root may not run it: then it belongs to the user `postgres`.
export class Postgres {
  #folder;
  #child;

  // In `folder`, or in one of its own.
  static async start(scope, { folder } = {}) {
    const server = await Postgres.#prepare(scope, folder);
    server.#run('initdb', ['-D', server.#data, '-U', 'callgate', '-A', 'trust', '--no-sync']);
    defer(scope, () => server.stop());
    await server.start_again();
    return server;
  }

  // A server that follows this one. From the moment it does, this one acknowledges nothing that the follower does not have.
  async start_standby(scope) {
    const standby = await Postgres.#prepare(scope);
    const from = ['-h', '127.0.0.1', '-p', String(this.port), '-U', 'callgate'];
    standby.#run('pg_basebackup', [...from, '-D', standby.#data, '-R', '-X', 'stream', '-c', 'fast', '--no-sync']);
    defer(scope, () => standby.stop());
    await standby.start_again();
    this.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
    this.query('SELECT pg_reload_conf()');
    const follows = () => this.query("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'").length === 1;
    await eventually('the standby follows', follows, 30_000);
    return standby;
  }

  // A standby becomes a server that takes writes, without a standby of its own.
  promote() {
    this.query('SELECT pg_promote()');
    this.query("ALTER SYSTEM SET synchronous_standby_names = ''");
    this.query('SELECT pg_reload_conf()');
  }

  static async #prepare(scope, folder) {
    const server = new Postgres();
    server.#folder = folder ?? make_folder(scope);
    server.port = await free_port();
    server.url = `postgresql://callgate@127.0.0.1:${server.port}/postgres`;
    if (process.getuid() === 0) {
      const owner = (flag) => Number(execFileSync('id', [flag, 'postgres']));
      chownSync(server.#folder, owner('-u'), owner('-g'));
    }
    return server;
  }

  get #data() {
    return join(this.#folder, 'data');
  }
  #command(name, args) {
    const program = find_program(name, postgres_folders());
    return process.getuid() === 0
      ? ['setpriv', ['--reuid=postgres', '--regid=postgres', '--clear-groups', program, ...args]]
      : [program, args];
  }
  #run(name, args) {
    execFileSync(...this.#command(name, args), { stdio: ['ignore', 'ignore', 'pipe'] });
  }

  // Rows as lists of texts.
  query(sql) {
    const args = ['-h', '127.0.0.1', '-p', String(this.port), '-U', 'callgate', '-d', 'postgres'];
    const program = find_program('psql', [...postgres_folders(), '/usr/bin']);
    const text = execFileSync(program, [...args, '-AtX', '-F', '\t', '-c', sql], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 2 ** 30,
    });
    return text === '' ? [] : text.trimEnd().split('\n').map((line) => line.split('\t'));
  }

  async start_again() {
    const settings = ['fsync=off', 'unix_socket_directories=', 'max_connections=200'];
    const args = ['-D', this.#data, '-p', String(this.port), '-h', '127.0.0.1'];
    for (const setting of settings) args.push('-c', setting);
    this.#child = spawn(...this.#command('postgres', args), { stdio: 'ignore' });
    const ready = () => {
      try {
        return this.query('SELECT 1').length === 1;
      } catch {
        return false;
      }
    };
    await eventually('PostgreSQL answers', ready, 30_000);
  }

  // Every connection ends at once.
  async stop(signal = 'SIGINT') {
    const child = this.#child;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  }
}

// Gives each request to the next node in turn. One that fails is the client's to ask again.
export async function start_nginx(scope, ports) {
  const folder = make_folder(scope);
  const port = await free_port();
  const servers = ports.map((each) => `server 127.0.0.1:${each} max_fails=1 fail_timeout=1s;`);
  mkdirSync(join(folder, 'logs'));
  const conf = join(folder, 'nginx.conf');
  writeFileSync(
    conf,
    `daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
${process.getuid() === 0 ? 'user root;' : ''}
events { worker_connections 4096; }
http {
  access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  upstream gateways { ${servers.join(' ')} }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://gateways; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_buffering off; proxy_read_timeout 60s;
      proxy_next_upstream off;
    }
  }
}
`,
  );
  const program = find_program('nginx', ['/usr/sbin', '/usr/bin', '/usr/local/sbin']);
  const child = spawn(program, ['-c', conf, '-p', folder], { stdio: 'ignore' });
  defer(scope, async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
  });
  await eventually('nginx listens', () => is_open(port));
  return `http://127.0.0.1:${port}`;
}

// A way to a port that can be cut: then nothing passes in either direction, and nobody is told.
export class Cable {
  #open = true;
  #sockets = new Set();

  static async lay(scope, port) {
    const cable = new Cable();
    const server = net.createServer((near) => {
      const far = net.connect(port, '127.0.0.1');
      cable.#join(near, far);
      cable.#join(far, near);
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    cable.port = server.address().port;
    defer(scope, () => {
      for (const socket of cable.#sockets) socket.destroy();
      server.close();
    });
    return cable;
  }

  #join(from, to) {
    this.#sockets.add(from);
    if (!this.#open) from.pause();
    from.on('data', (bytes) => to.write(bytes));
    from.on('error', () => {});
    from.on('close', () => {
      this.#sockets.delete(from);
      if (this.#open) to.destroy();
    });
  }

  cut() {
    this.#open = false;
    for (const socket of this.#sockets) socket.pause();
  }
  mend() {
    this.#open = true;
    for (const socket of this.#sockets) socket.resume();
  }
}
