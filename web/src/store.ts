// What the page knows, in one place. Views read signals; only functions of this file change them.
import { batch, computed, effect, signal } from '@preact/signals';
import { ask, events, get, key, locked, ApiError } from './lib/api';

export interface Progress {
  phase: string;
  upstream: string;
  attempts: number;
  first_token_ms: number | null;
  elapsed_ms: number;
  frames: number;
  bytes: number;
  calls: number;
}

export interface Row {
  id: string;
  received_at: string;
  state: 'running' | 'completed' | 'failed' | 'disconnected' | 'interrupted';
  model: string;
  upstream: string | null;
  dialect: string | null;
  key: string | null;
  protocol: string;
  stream: boolean;
  status?: number | null;
  finish_reason?: string | null;
  error?: { code: string; message: string } | null;
  cut?: string | null;
  tool_calls?: number;
  usage?: { prompt_tokens: number; completion_tokens: number; cached_tokens: number; reasoning_tokens: number } | null;
  frames?: number;
  repairs?: number;
  repair_names?: string | null;
  missed_call?: string | null;
  attempts?: number;
  first_byte_ms?: number | null;
  first_token_ms?: number | null;
  total_ms?: number;
  progress?: Progress;
  session?: string | null;
  client_address?: string;
}

export interface Facts {
  version: string;
  demo: boolean;
  store: boolean;
  dialects: string[];
  wires: string[];
  protocols: string[];
  models: string[];
  upstreams: string[];
  policy: Record<string, string>;
}

export const max_rows = 5000;

export const facts = signal<Facts | null>(null);
export const problem = signal('');
export const feed = signal<'connecting' | 'live' | 'lost'>('connecting');
export const paused = signal(false);
export const filter = signal('');
export const only = signal<'all' | 'running' | 'problems' | 'calls'>('all');
export const theme = signal<'system' | 'light' | 'dark'>('system');
export const route = signal(read_route());

// Rows by id; the list is in the order of their arrival, the latest first. A row keeps its place while it changes.
const by_id = new Map<string, Row>();
let order: string[] = [];
export const rows = signal<Row[]>([]);
let waiting: Row[] = []; // while the list is paused
export const held_rows = signal(0);

export const is_problem = (row: Row) =>
  row.state === 'failed' || row.state === 'interrupted' || Boolean(row.missed_call) || (row.repairs ?? 0) > 0;

export const shown_rows = computed(() => {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  const kind = only.value;
  if (words.length === 0 && kind === 'all') return rows.value;
  return rows.value.filter((row) => {
    if (kind === 'running' && row.state !== 'running') return false;
    if (kind === 'problems' && !is_problem(row)) return false;
    if (kind === 'calls' && !((row.tool_calls ?? row.progress?.calls ?? 0) > 0)) return false;
    return words.length === 0 || words.every((word) => search_text(row).includes(word));
  });
});

const texts = new WeakMap<Row, string>();
function search_text(row: Row): string {
  let text = texts.get(row);
  if (text === undefined) {
    text = [row.id, row.model, row.key, row.upstream, row.dialect, row.protocol, row.state, row.error?.code, row.repair_names, row.missed_call].join(' ').toLowerCase();
    texts.set(row, text);
  }
  return text;
}

export function find_row(id: string): Row | undefined {
  return rows.value && by_id.get(id);
}

function put(news: Row[]) {
  const fresh: string[] = [];
  for (const row of news) {
    const known = by_id.get(row.id);
    // What the log says may be older than what the feed said.
    if (known && known.state !== 'running' && row.state === 'running') continue;
    if (!known) fresh.push(row.id);
    by_id.set(row.id, row);
  }
  if (fresh.length > 0) {
    const time = (id: string) => by_id.get(id)!.received_at;
    fresh.sort((a, b) => (time(a) < time(b) ? 1 : -1));
    const newest = order.length > 0 ? time(order[0]) : '';
    order = time(fresh.at(-1)!) >= newest ? [...fresh, ...order] : [...fresh, ...order].sort((a, b) => (time(a) < time(b) ? 1 : -1));
    for (const id of order.splice(max_rows)) by_id.delete(id);
  }
  rows.value = order.map((id) => by_id.get(id)!);
}

function take(news: Row[]) {
  if (!paused.value) return put(news);
  waiting.push(...news);
  if (waiting.length > 2 * max_rows) waiting = waiting.slice(-max_rows);
  held_rows.value = new Set(waiting.map((row) => row.id)).size;
}

export function pause(on: boolean) {
  batch(() => {
    paused.value = on;
    if (on) return;
    const news = waiting;
    waiting = [];
    held_rows.value = 0;
    put(news);
  });
}

export function clear_rows() {
  by_id.clear();
  order = [];
  rows.value = [];
}

async function load_history() {
  const page = await get<{ data: Row[] }>('/v1/requests?limit=200').catch(() => ({ data: [] }));
  put(page.data);
}

// One frame of the screen gets all that came since the last one. A page that nobody sees has no frames.
let queue: Row[] = [];
let scheduled = false;
function flush() {
  scheduled = false;
  const news = queue;
  queue = [];
  if (news.length > 0) take(news);
}
function enqueue(row: Row) {
  queue.push(row);
  if (scheduled) return;
  scheduled = true;
  if (document.hidden) setTimeout(flush, 250);
  else requestAnimationFrame(flush);
}
document.addEventListener('visibilitychange', flush);

let running: AbortController | null = null;

export async function connect() {
  running?.abort();
  const control = new AbortController();
  running = control;
  let last = '';
  let pause_ms = 250;
  while (!control.signal.aborted) {
    try {
      facts.value = await get<Facts>('/v1/inspector', control.signal);
      problem.value = '';
      for await (const event of events('/v1/live', last, control.signal)) {
        if (event.event === 'hello') {
          const { resumed } = JSON.parse(event.data);
          feed.value = 'live';
          pause_ms = 250;
          if (!resumed) await load_history();
        } else if (event.event === 'gap') {
          await load_history();
        } else if (event.event === 'turn') {
          enqueue(JSON.parse(event.data));
        }
        if (event.id) last = event.id;
      }
    } catch (error) {
      if (control.signal.aborted || locked.value) return;
      problem.value = error instanceof ApiError ? error.message : '';
    }
    feed.value = 'lost';
    await new Promise((resolve) => setTimeout(resolve, pause_ms));
    pause_ms = Math.min(pause_ms * 2, 4000);
  }
}

// Fails when the gateway does not take the key.
export async function unlock(given: string) {
  const response = await fetch('/v1/inspector', { headers: given ? { authorization: `Bearer ${given}` } : {} });
  if (!response.ok) {
    const body = await response.json().catch(() => null);
    throw new ApiError(response.status, body?.error?.message ?? 'the gateway refused the key');
  }
  key.value = given;
  locked.value = false;
  void connect();
}

export interface Route {
  view: string;
  id: string;
}

function read_route(): Route {
  const [, view = 'live', ...rest] = location.hash.split('/');
  return { view: view || 'live', id: decodeURIComponent(rest.join('/')) };
}

export const link = (view: string, id = '') => `#/${view}${id ? `/${encodeURIComponent(id)}` : ''}`;
export function go(view: string, id = '') {
  location.hash = link(view, id);
}

addEventListener('hashchange', () => {
  route.value = read_route();
});

const stored = localStorage.getItem('callgate.theme');
if (stored === 'light' || stored === 'dark') theme.value = stored;
effect(() => {
  if (theme.value === 'system') {
    delete document.documentElement.dataset.theme;
    localStorage.removeItem('callgate.theme');
  } else {
    document.documentElement.dataset.theme = theme.value;
    localStorage.setItem('callgate.theme', theme.value);
  }
});

// What Replay and Playground begin with when another view sends somebody there.
export const replay_source = signal<{ request?: string; round?: number; bytes?: Uint8Array; name?: string } | null>(null);
export const playground_text = signal('');

const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'The weather of a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};

// Turns of the demo models, as a client would ask for them: one whose call is held back until it is certain, one whose call
// stays text, and one whose server makes mistakes. The last is opened while it streams.
export async function run_demo() {
  const models = facts.value?.models ?? [];
  const asks: [string, string][] = [
    ['demo-hermes', 'I think I need the weather in Paris.'],
    ['demo-json_array', 'Ask for the weather in single quotes.'],
    ['demo-tools', 'Ask for the weather, as a faulty server would.'],
  ];
  const chat = async ([model, content]: [string, string]) => {
    const response = await ask('/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model, stream: true, stream_options: { include_usage: true }, messages: [{ role: 'user', content }], tools: [weather] }),
    });
    if (model === 'demo-tools') go('turn', response.headers.get('x-request-id') ?? '');
    await response.text();
  };
  await Promise.all(asks.filter(([model]) => models.includes(model)).map(chat));
}
