// Questions to the gateway. The admin's key stays in the memory of this tab.
import { signal } from '@preact/signals';

export const key = signal('');
export const locked = signal(false); // the gateway wants a key, or another one

export class ApiError extends Error {
  constructor(readonly status: number, message: string, readonly code = '') {
    super(message);
  }
}

function headers(extra: Record<string, string> = {}): Record<string, string> {
  return key.value ? { authorization: `Bearer ${key.value}`, ...extra } : extra;
}

async function failure(response: Response): Promise<ApiError> {
  const text = await response.text();
  try {
    const { error } = JSON.parse(text);
    return new ApiError(response.status, error.message, error.code ?? '');
  } catch {
    return new ApiError(response.status, text.slice(0, 200) || `the gateway answered ${response.status}`);
  }
}

export async function ask(path: string, options: RequestInit = {}): Promise<Response> {
  const response = await fetch(path, { ...options, headers: headers(options.headers as Record<string, string>) });
  if (response.status === 401 || (response.status === 403 && !key.value)) locked.value = true;
  if (!response.ok) throw await failure(response);
  return response;
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await ask(path, { signal })).json();
}

export async function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const options = { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' }, signal };
  return (await ask(path, options)).json();
}

export interface ServerEvent {
  id: string;
  event: string;
  data: string;
}

// EventSource cannot send a key, so the stream is read here.
export async function* events(path: string, last: string, signal: AbortSignal): AsyncGenerator<ServerEvent> {
  const extra: Record<string, string> = last ? { 'last-event-id': last } : {};
  const response = await ask(path, { headers: extra, signal });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const frames = (rest + value).split('\n\n');
    rest = frames.pop()!;
    for (const frame of frames) {
      const event: ServerEvent = { id: '', event: 'message', data: '' };
      for (const line of frame.split('\n')) {
        const colon = line.indexOf(': ');
        const name = line.slice(0, colon);
        if (name === 'id' || name === 'event' || name === 'data') event[name] = line.slice(colon + 2);
      }
      if (event.data) yield event;
    }
  }
}
