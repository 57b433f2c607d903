// A turn as the gateway describes it, and what the columns need of it.
import { from_base64, lines_of, type Line } from './bytes';

export interface TurnEvent {
  type: 'text' | 'reasoning' | 'refusal' | 'call' | 'arguments' | 'end' | 'field' | 'usage' | 'finish';
  choice?: number;
  text?: string;
  call?: number;
  name?: string;
  id?: string;
  in_text?: boolean;
  outcome?: string;
  reason?: string;
  prompt_tokens?: number;
  completion_tokens?: number;
}

export interface Pin {
  kind: 'repair' | 'stayed_text' | 'policy' | 'error';
  name: string;
  text?: string;
  step: number;
  begin: number;
  end: number;
}

interface WireStep {
  what?: string;
  end: number;
  t: number;
  client_end: number;
  held?: number;
  events?: TurnEvent[];
}

export interface WireAnatomy {
  upstream: string;
  client: string;
  steps: WireStep[];
  pins: Pin[];
  summary: Record<string, number | string>;
  error: { code: string; message: string } | null;
}

export interface Step {
  index: number;
  round: number;
  what: string;
  begin: number; // of the round's upstream bytes
  end: number;
  client_begin: number;
  client_end: number;
  t: number; // microseconds since the request came
  gap: number; // milliseconds since the step before
  held: number; // bytes that wait after it
  group: number; // steps that were held back together, with the one that let them go
  events: TurnEvent[];
  pins: Pin[];
  upstream_lines: Line[];
  client_lines: Line[];
}

export interface Round {
  index: number;
  upstream: Uint8Array;
  client: Uint8Array;
  steps: Step[];
  pins: Pin[];
  summary: Record<string, number | string>;
  error: { code: string; message: string } | null;
  pipeline?: Pipeline;
  missing?: string;
}

export interface Pipeline {
  wire: string;
  protocol: string;
  dialect: string;
  dialect_is_default: boolean;
  policy: Record<string, string>;
}

export interface Head {
  t: number;
  dir: 'client_in' | 'upstream_out' | 'upstream_in' | 'client_out';
  method?: string;
  path?: string;
  upstream?: string;
  status?: number;
  headers: [string, string][];
}

export interface Attempt {
  upstream: string;
  asked: number;
  head: number;
  first: number;
  last: number;
  status: number;
  error?: string;
}

export interface Recording {
  id: string;
  key: string;
  model: string;
  protocol: string;
  time: number;
  state: string;
  truncated: boolean;
  attempts: Attempt[];
  heads: Head[];
  written: { t: number; bytes: string }[];
  rounds: { pipeline?: Pipeline; anatomy?: WireAnatomy; missing?: string }[];
}

export const gap_ms = 250;

export function read_round(wire: WireAnatomy, index: number, pipeline?: Pipeline): Round {
  const upstream = from_base64(wire.upstream);
  const client = from_base64(wire.client);
  let begin = 0;
  let client_begin = 0;
  let before = wire.steps[0]?.t ?? 0;
  let group = 0;
  let waiting = false;
  const pins: Pin[][] = wire.steps.map(() => []);
  for (const pin of wire.pins) pins[pin.step]?.push(pin);
  const steps = wire.steps.map((from, i): Step => {
    if (!waiting) group++;
    waiting = (from.held ?? 0) > 0;
    const step: Step = {
      index: i,
      round: index,
      what: from.what ?? 'frame',
      begin,
      end: from.end,
      client_begin,
      client_end: from.client_end,
      t: from.t,
      gap: (from.t - before) / 1000,
      held: from.held ?? 0,
      group,
      events: join_events(from.events ?? []),
      pins: pins[i],
      upstream_lines: lines_of(upstream, begin, from.end),
      client_lines: lines_of(client, client_begin, from.client_end),
    };
    begin = from.end;
    client_begin = from.client_end;
    before = from.t;
    return step;
  });
  return { index, upstream, client, steps, pins: wire.pins, summary: wire.summary, error: wire.error, pipeline };
}

// Neighbours of one kind as one.
export function join_events(events: TurnEvent[]): TurnEvent[] {
  const joined: TurnEvent[] = [];
  for (const event of events) {
    const last = joined.at(-1);
    const same = last && last.type === event.type && last.choice === event.choice && last.call === event.call;
    if (same && ['text', 'reasoning', 'refusal', 'arguments'].includes(event.type)) {
      joined[joined.length - 1] = { ...last, text: (last.text ?? '') + (event.text ?? '') };
    } else {
      joined.push(event);
    }
  }
  return joined;
}

export interface Call {
  name: string;
  id: string;
  arguments: string;
  outcome: string;
  in_text: boolean;
}

export type Part = { type: 'text' | 'reasoning' | 'refusal'; text: string } | { type: 'call'; call: Call };

// What a person reads of the turn.
export function assemble(events: TurnEvent[]): Part[] {
  const parts: Part[] = [];
  for (const event of join_events(events)) {
    if (event.type === 'text' || event.type === 'reasoning' || event.type === 'refusal') {
      const last = parts.at(-1);
      if (last && last.type === event.type) last.text += event.text ?? '';
      else parts.push({ type: event.type, text: event.text ?? '' });
    } else if (event.type === 'call') {
      parts.push({
        type: 'call',
        call: { name: event.name ?? '', id: event.id ?? '', arguments: '', outcome: 'open', in_text: event.in_text ?? false },
      });
    } else if (event.type === 'arguments' || event.type === 'end') {
      const last = parts.findLast((part) => part.type === 'call');
      if (last?.type !== 'call') continue;
      if (event.type === 'arguments') last.call.arguments += event.text ?? '';
      else last.call.outcome = event.outcome ?? '';
    }
  }
  return parts;
}

export function event_label(event: TurnEvent): string {
  switch (event.type) {
    case 'call':
      return `${event.name}${event.in_text ? ' (found in text)' : ''}`;
    case 'end':
      return `call ${event.call} ${event.outcome}`;
    case 'usage':
      return `${event.prompt_tokens} in, ${event.completion_tokens} out`;
    case 'finish':
      return event.reason ?? '';
    case 'field':
      return `${event.name} ${event.text}`;
    default:
      return event.text ?? '';
  }
}

export function pin_label(pin: Pin): string {
  if (pin.kind === 'stayed_text') return `stayed text, ${pin.name}: ${pin.text}`;
  return pin.text ? `${pin.name}: ${pin.text}` : pin.name;
}
